"""What stands in the status of an RPC that failed, beside its code."""

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

DETAILS = [error_details_pb2.ErrorInfo, error_details_pb2.BadRequest,
           error_details_pb2.QuotaFailure, error_details_pb2.RetryInfo]


def failure(call) -> grpc.RpcError:
    """The error that the call ends with."""
    with pytest.raises(grpc.RpcError) as error:
        call()
    return error.value


def details(error: grpc.RpcError) -> dict[str, object]:
    """The details by their names; fails where the server gave none, or another code in them."""
    status = rpc_status.from_call(error)
    assert status is not None, f"no details: {error.code()} {error.details()}"
    assert status.code == error.code().value[0]
    found = {}
    for detail in status.details:
        kind = next(kind for kind in DETAILS if detail.Is(kind.DESCRIPTOR))
        message = kind()
        detail.Unpack(message)
        assert kind.DESCRIPTOR.name not in found, f"two of {kind.DESCRIPTOR.name}"
        found[kind.DESCRIPTOR.name] = message
    assert found["ErrorInfo"].domain == "sightline.v1"
    return found


def reason(error: grpc.RpcError) -> str:
    """The one reason that ErrorInfo gives."""
    return details(error)["ErrorInfo"].reason
