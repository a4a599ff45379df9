"""The external view of a refused call: its status, and the ErrorDetail in its trailers."""

from contextlib import contextmanager

import grpc

DETAILS = "grpc-status-details-bin"


class Refusal:
    """The server's error; filled when the block of `refused` ends."""

    status: grpc.StatusCode
    message: str
    detail: object | None  # archebase.common.v1.ErrorDetail
    trailers: dict[str, str | bytes]

    def read(self, stubs, error: grpc.RpcError) -> "Refusal":
        self.status = error.code()
        self.message = error.details()
        self.trailers = dict(error.trailing_metadata() or ())
        raw = self.trailers.get(DETAILS)
        # The bytes decode as an ErrorDetail, which is how deployed clients read them.
        self.detail = stubs.common.ErrorDetail.FromString(raw) if raw is not None else None
        return self

    def __str__(self) -> str:
        code = self.detail.code if self.detail else "no detail"
        return f"{self.status.name} ({code}): {self.message}"


@contextmanager
def refused(stubs, status: str, *codes: str):
    """Expects the block's call to fail with the gRPC status and (one of) the detail codes; without codes: no detail."""
    expected = f"{status} ({' or '.join(codes) or 'no detail'})"
    refusal = Refusal()
    try:
        yield refusal
    except grpc.RpcError as error:
        refusal.read(stubs, error)
    else:
        raise AssertionError(f"expected {expected}, but the call succeeded")
    assert refusal.status.name == status, f"expected {expected}, got {refusal}"
    found = refusal.detail.code if refusal.detail else None
    assert found in (codes or (None,)), f"expected {expected}, got {refusal}"
    if refusal.detail is not None:
        assert refusal.detail.message, "the detail has no message for people"
