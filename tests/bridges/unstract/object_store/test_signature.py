"""Examples with their results from AWS's description of Signature Version 4."""

import hashlib

from nexus_tools.bridges.unstract.object_store.signature import (
    EMPTY_SHA256,
    Scope,
    canonical_query,
    canonical_request,
    canonical_uri,
    signature,
    signing_key,
    string_to_sign,
)

# "Elements of an AWS API request signature" and "Create a signed AWS API request".
IAM_SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
IAM_SCOPE = Scope("20150830", "us-east-1", "iam")
IAM_HEADERS = {
    "content-type": "application/x-www-form-urlencoded; charset=utf-8",
    "host": "iam.amazonaws.com",
    "x-amz-date": "20150830T123600Z",
}
# "Authenticating requests: using the Authorization header" of the S3 API reference.
S3_SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
S3_SCOPE = Scope("20130524", "us-east-1", "s3")
S3_TIME = "20130524T000000Z"


def iam_request():
    return canonical_request(
        "GET",
        "/",
        canonical_query("Version=2010-05-08&Action=ListUsers"),
        headers=IAM_HEADERS,
        signed=sorted(IAM_HEADERS),
        payload_hash=EMPTY_SHA256,
    )


def s3_signature(canonical):
    return signature(signing_key(S3_SECRET, S3_SCOPE), string_to_sign(S3_TIME, S3_SCOPE, canonical))


def test_the_signing_key_is_that_of_the_documented_example():
    expected = "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"
    assert signing_key(IAM_SECRET, IAM_SCOPE).hex() == expected


def test_the_canonical_request_is_that_of_the_documented_example():
    expected = "f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59"
    assert hashlib.sha256(iam_request().encode()).hexdigest() == expected


def test_the_signature_is_that_of_the_documented_example():
    text = string_to_sign("20150830T123600Z", IAM_SCOPE, iam_request())
    expected = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    assert signature(signing_key(IAM_SECRET, IAM_SCOPE), text) == expected


def test_an_object_s_range_is_signed_as_s3_documents_it():
    headers = {
        "host": "examplebucket.s3.amazonaws.com",
        "range": "bytes=0-9",
        "x-amz-content-sha256": EMPTY_SHA256,
        "x-amz-date": S3_TIME,
    }
    canonical = canonical_request(
        "GET",
        canonical_uri("/test.txt"),
        "",
        headers=headers,
        signed=sorted(headers),
        payload_hash=EMPTY_SHA256,
    )
    expected = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    assert s3_signature(canonical) == expected


def test_a_key_with_a_dollar_sign_is_signed_as_s3_documents_it():
    digest = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
    headers = {
        "date": "Fri, 24 May 2013 00:00:00 GMT",
        "host": "examplebucket.s3.amazonaws.com",
        "x-amz-content-sha256": digest,
        "x-amz-date": S3_TIME,
        "x-amz-storage-class": "REDUCED_REDUNDANCY",
    }
    canonical = canonical_request(
        "PUT",
        canonical_uri("/test$file.text"),
        "",
        headers=headers,
        signed=sorted(headers),
        payload_hash=digest,
    )
    expected = "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
    assert s3_signature(canonical) == expected


def test_a_presigned_address_is_signed_as_s3_documents_it():
    credential = "AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
    query = (
        f"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={credential}&X-Amz-Date={S3_TIME}"
        "&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=anything"
    )
    canonical = canonical_request(
        "GET",
        "/test.txt",
        canonical_query(query, without=("X-Amz-Signature",)),
        headers={"host": "examplebucket.s3.amazonaws.com"},
        signed=["host"],
        payload_hash="UNSIGNED-PAYLOAD",
    )
    expected = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    assert s3_signature(canonical) == expected


def test_a_parameter_without_a_value_is_signed_as_s3_documents_it():
    headers = {
        "host": "examplebucket.s3.amazonaws.com",
        "x-amz-content-sha256": EMPTY_SHA256,
        "x-amz-date": S3_TIME,
    }
    canonical = canonical_request(
        "GET",
        "/",
        canonical_query("lifecycle"),
        headers=headers,
        signed=sorted(headers),
        payload_hash=EMPTY_SHA256,
    )
    expected = "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
    assert s3_signature(canonical) == expected
