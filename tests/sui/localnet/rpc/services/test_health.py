"""`grpc.health.v1.Health`."""

import grpc
import pytest

SERVING = 1


def check_health(client, service):
    stub = client.channel.unary_unary("/grpc.health.v1.Health/Check")
    return stub(b"\x0a" + bytes([len(service)]) + service.encode(), timeout=20)


@pytest.mark.parametrize(
    "service",
    ["", "sui.rpc.v2.LedgerService", "sui.rpc.v2.SubscriptionService", "grpc.health.v1.Health"],
)
def test_known_service_is_serving(client, service):
    assert check_health(client, service) == b"\x08\x01"  # HealthCheckResponse.status = SERVING


def test_unknown_service_is_not_found(client):
    with pytest.raises(grpc.RpcError) as caught:
        check_health(client, "no.Such")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def test_watch_reports_immediately_and_can_be_cancelled(client):
    watched = client.channel.unary_stream("/grpc.health.v1.Health/Watch")(b"", timeout=20)
    assert next(watched) == b"\x08\x01"
    watched.cancel()
    with pytest.raises(grpc.RpcError):
        next(watched)
