"""`grpc.health.v1.Health`."""

import grpc
import pytest

SERVING = 1


def checked(client, service):
    stub = client.channel.unary_unary("/grpc.health.v1.Health/Check")
    return stub(b"\x0a" + bytes([len(service)]) + service.encode(), timeout=20)


@pytest.mark.parametrize(
    "service",
    ["", "sui.rpc.v2.LedgerService", "sui.rpc.v2.SubscriptionService", "grpc.health.v1.Health"],
)
def test_a_service_that_is_there_is_up(client, service):
    assert checked(client, service) == b"\x08\x01"  # HealthCheckResponse.status = SERVING


def test_a_service_that_is_not_there_is_not_found(client):
    with pytest.raises(grpc.RpcError) as caught:
        checked(client, "no.Such")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def test_who_watches_is_told_at_once_and_may_leave(client):
    watched = client.channel.unary_stream("/grpc.health.v1.Health/Watch")(b"", timeout=20)
    assert next(watched) == b"\x08\x01"
    watched.cancel()
    with pytest.raises(grpc.RpcError):
        next(watched)
