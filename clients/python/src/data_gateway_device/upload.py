"""One upload: its steps, and its continuation after an interruption at any point."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Callable, NoReturn, TypeVar

from . import messages
from .errors import FileChangedError, GatewayError, ProtocolError, SourceError, StoreError, UploadAbortedError
from .gateway import UNKNOWN_UPLOAD_CODES, Gateway, stale_at
from .messages import Message
from .records import DeliveredFiles, StateFile, UploadState
from .retries import Retrying
from .source import FILE_NAME_TAG, Source
from .store import Credentials, Piece, Store, md5
from .tls import Authorities

Result = TypeVar("Result")

#: The time before the expiry of credentials at which they are replaced, in seconds; at most a quarter of their lifetime.
_CREDENTIALS_LEAD = 300.0
#: The number of recoveries without an acknowledged part after which an upload fails.
_MOST_RECOVERIES = 3
_MOST_PARTS = 10_000
#: The codes of the store after which new credentials may help.
_CREDENTIAL_CODES = (
    "SecurityTokenExpired",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "RequestTimeTooSkewed",
    "AccessDenied",
)

#: The codes of the store with which it refuses the bytes or their properties, whenever they are sent.
_CONTENT_CODES = ("EntityTooLarge", "EntityTooSmall", "InvalidArgument")


@dataclass(frozen=True)
class Progress:
    """The progress of an upload: `sent` bytes of `size` are stored or on their way."""

    path: str
    sent: int
    size: int


@dataclass(frozen=True)
class UploadResult:
    """A file that the gateway has."""

    path: str
    #: Empty if the gateway is of an older version.
    file_id: str
    size: int
    part_count: int
    #: Whether an earlier run uploaded the file, so that nothing was sent.
    was_uploaded_before: bool = False


@dataclass(frozen=True)
class Services:
    """The services that an upload uses."""

    gateway: Gateway
    authorities: Authorities
    retrying: Retrying
    delivered: DeliveredFiles
    #: Called with each event: its name and its values.
    event: Callable[[str, dict[str, Any]], None]


class _StartOver(Exception):
    """What the store has is not what the state says; the gateway decides how to continue."""


class UploadRun:
    """Uploads one file, from the state that an earlier run left."""

    def __init__(self, services: Services, file: StateFile, progress: Callable[[Progress], None] | None = None):
        self._services = services
        self._gateway = services.gateway
        self._file = file
        self._progress = progress
        self._store: Store | None = None
        self._source = Source("", 0, 0, 0, 0, 0)
        self._stale_at = 0.0
        #: The bytes of acknowledged parts, and those of the present part that were sent.
        self._stored, self._sending = 0, 0
        self._recoveries = 0
        #: Whether CompleteUpload refused the object, and whether the store does not have the upload in parts.
        self._was_refused = self._is_lost = False

    def run(self, source: Source, tags: dict[str, str]) -> UploadResult:
        """Uploads the file, unless the gateway has it already."""
        state = self._file.read()
        found = self._services.delivered.find(source)
        if found is not None:
            if state is not None:
                self._drop(state)
            return UploadResult(source.path, found, source.size, 0, was_uploaded_before=True)
        if state is not None and not state.source.is_same_version(source):
            self._finish_earlier(state)
            state = None
        is_resumed = state is not None
        if state is None:
            state = UploadState.new(source, tags)
        else:
            # Another program may have written bytes since: which ones the store has is not known before they are compared.
            state = replace(state, source=replace(source, changed=state.source.changed))
        self._file.write(state)
        self._services.event("continued" if is_resumed else "begun", {"path": source.path, "size_bytes": source.size})
        return self._finish(state, source, tags, is_resumed)

    def finish_removed(self, state: UploadState) -> UploadResult:
        """Completes the upload of a file that was removed if all its bytes are stored, else aborts it."""
        if state.upload_id:
            reply = self._recovery(state)
            if reply is not None and reply.next_action == messages.COMPLETE_ONLY:
                return self._complete_removed(_stored(state, reply))
        self._abort(state, "the file was removed")
        path = state.source.path
        raise SourceError(f"{path} was removed before it was uploaded, and its upload was aborted")

    def _complete_removed(self, state: UploadState) -> UploadResult:
        try:
            return self._complete(state)
        except _StartOver as reason:
            raise reason.__cause__ or ProtocolError(str(reason)) from None

    def _finish(self, state: UploadState, source: Source, tags: dict[str, str], is_resumed: bool) -> UploadResult:
        """Repeats the steps, each time as the gateway decides, until the upload of the source is complete."""
        try:
            while True:
                try:
                    if is_resumed and state.upload_id:
                        state = self._recovered(state)
                    if not state.upload_id:
                        state = self._created(state)
                    was_stored = state.is_stored
                    if not was_stored:
                        state = self._sent(state, is_resumed)
                    compared = self._compared(state)
                    if compared is not None:
                        return self._complete(compared)
                    if not was_stored:
                        self._refuse_change(state, "was modified")
                    # An earlier run stored an earlier version: both are uploaded.
                    self._complete(state)
                    state, is_resumed = UploadState.new(source, tags), False
                    self._file.write(state)
                except _StartOver as reason:
                    self._count_recovery(reason)
                    state, is_resumed = self._file.read() or state, True
        except GatewayError as error:
            if error.status == "INVALID_ARGUMENT":
                # The gateway never accepts it with these tags, which an unfinished upload would keep.
                self._abort(state, "the gateway refused it")
            raise
        except StoreError as error:
            if error.code in _CONTENT_CODES:
                self._abort(state, "the object store refused it")
            raise
        finally:
            if self._store is not None:
                self._store.close()
                self._store = None

    def _compared(self, state: UploadState) -> UploadState | None:
        """Returns the state if the object that the store has consists of the file's bytes, else `None`.

        They are read only if the file's ctime differs, which no program can set. It differs as well if only the status of
        the file changed, so that the bytes decide.
        """
        try:
            status = os.stat(state.source.path)
        except OSError:
            # The file is not needed any more.
            return state
        if state.source.changed == status.st_ctime_ns:
            return state
        try:
            with _opened(state.source.path) as descriptor:
                digests = [piece.md5() for piece in _pieces(state, descriptor)]
        except EOFError:
            return None
        if not _is_etag_of(digests, state):
            return None
        return replace(state, source=replace(state.source, changed=status.st_ctime_ns))

    def _count_recovery(self, reason: _StartOver) -> None:
        self._recoveries += 1
        if self._recoveries > _MOST_RECOVERIES:
            raise reason.__cause__ or ProtocolError(str(reason))

    # The gateway

    def _created(self, state: UploadState) -> UploadState:
        """Calls CreateLogicalUpload, for a new upload or a restart."""
        source = state.source
        hints = {
            "idempotency_key": state.idempotency_key,
            "file_name": state.tags[FILE_NAME_TAG],
            "file_size": str(source.size),
        }
        try:
            reply = self._gateway.create(hints, state.restart_from)
        except GatewayError as error:
            if error.code not in ("DATA_GATEWAY_UPLOAD_NOT_REFRESHABLE", *UNKNOWN_UPLOAD_CODES):
                raise
            # The upload of this idempotency key has ended, or the replaced one is not known any more.
            self._file.write(UploadState.new(source, state.tags))
            raise _StartOver("the upload ended at the gateway") from error
        if not reply.logical_upload_id or not reply.upload_id:
            raise ProtocolError("the gateway returned an upload without an id")
        self._take(reply.credentials)
        state = replace(
            state,
            logical_id=reply.logical_upload_id,
            upload_id=reply.upload_id,
            part_size=reply.credentials.part_size_bytes,
            restart_from="",
        )
        self._file.write(state)
        return state

    def _recovery(self, state: UploadState) -> Message | None:
        """Returns the reply of GetUploadRecovery; `None` if the gateway knows no such upload of this device."""
        try:
            return self._gateway.recovery(state.logical_id)
        except GatewayError as error:
            if error.code not in UNKNOWN_UPLOAD_CODES:
                raise
            return None

    def _recovered(self, state: UploadState) -> UploadState:
        """Returns the state with which the gateway lets the upload continue."""
        reply = self._recovery(state)
        if reply is None:
            following = UploadState.new(state.source, state.tags)
        elif reply.next_action == messages.ABORT:
            self._file.remove()
            reason = reply.terminal_reason or "no reason is known"
            raise UploadAbortedError(f"the upload of {state.source.path} was aborted at the gateway: {reason}")
        elif reply.next_action == messages.COMPLETE_ONLY:
            following = _stored(state, reply)
        elif reply.next_action == messages.CONTINUE and self._is_continued(state, reply):
            following = replace(state, etag="", part_count=0, multipart_id="" if self._is_lost else state.multipart_id)
        elif reply.next_action in (messages.CONTINUE, messages.RESTART):
            following = state.restarted(reply.current_upload_id or state.upload_id)
            self._services.event("restarted", {"path": state.source.path})
        else:
            raise ProtocolError(f"the gateway returned the unknown recovery action {reply.next_action}")
        self._was_refused = self._is_lost = False
        self._file.write(following)
        return following

    def _is_continued(self, state: UploadState, reply: Message) -> bool:
        """Whether the attempt continues; what CompleteUpload refused with another attempt's bytes does not."""
        return reply.current_upload_id in ("", state.upload_id) and not self._was_refused

    def _complete(self, state: UploadState) -> UploadResult:
        source = state.source
        request = messages.CompleteUploadRequest(
            upload_id=state.upload_id,
            file_size=source.size,
            raw_tags=state.tags,
            completed_part_count=state.part_count,
            oss_object_etag=state.etag,
            part_size_bytes=state.part_size,
        )
        try:
            file_id = self._gateway.complete(request)
        except GatewayError as error:
            if error.status in ("FAILED_PRECONDITION", "NOT_FOUND") and self._recoveries < _MOST_RECOVERIES:
                self._was_refused = error.status == "FAILED_PRECONDITION"
                raise _StartOver(str(error)) from error
            raise
        self._services.delivered.add(source, file_id)
        self._file.remove()
        values = {"path": source.path, "file_id": file_id, "size_bytes": source.size, "part_count": state.part_count}
        self._services.event("completed", values)
        return UploadResult(source.path, file_id, source.size, state.part_count)

    def _drop(self, state: UploadState) -> None:
        """Removes the state of a file that arrived; another program may have uploaded it meanwhile."""
        if state.is_stored:
            self._file.remove()
        else:
            self._abort(state, "the file was uploaded otherwise")

    def _finish_earlier(self, state: UploadState) -> None:
        """Ends the upload of an earlier version of the file: it is completed if all its bytes are stored."""
        if state.is_stored:
            with contextlib.suppress(GatewayError, _StartOver):
                self._complete(state)
                return
        self._abort(state, "the file changed")

    def _abort(self, state: UploadState, reason: str) -> None:
        if state.logical_id:
            self._gateway.abort(state.logical_id, reason)
        self._file.remove()

    # The store

    def _take(self, issued: Message) -> None:
        """Takes issued credentials; those of the same upload id have the same place."""
        credentials = Credentials(
            bucket=issued.bucket,
            endpoint=issued.endpoint,
            object_key=issued.object_key,
            access_key_id=issued.sts_access_key_id,
            secret=issued.sts_access_key_secret,
            token=issued.sts_security_token,
            region=issued.object_store_region,
            expires_at=issued.sts_expire_at_unix,
            part_size=issued.part_size_bytes,
        )
        if credentials.part_size < 1:
            raise ProtocolError(f"the gateway returned a part size of {credentials.part_size} bytes")
        if self._store is None or not self._store.credentials.is_same_place(credentials):
            if self._store is not None:
                self._store.close()
            self._store = Store(credentials, self._services.authorities, self._on_sent)
        else:
            self._store.use(credentials)
        self._stale_at = stale_at(credentials.expires_at, _CREDENTIALS_LEAD)

    def _reissue(self, state: UploadState) -> Store:
        try:
            reply = self._gateway.reissue(state.upload_id)
        except GatewayError as error:
            if error.status in ("FAILED_PRECONDITION", "NOT_FOUND"):
                raise _StartOver(str(error)) from error
            raise
        if reply.upload_id != state.upload_id or reply.credentials.part_size_bytes != state.part_size:
            raise ProtocolError("the gateway returned credentials of another upload or part size")
        self._take(reply.credentials)
        assert self._store is not None
        return self._store

    def _stored_by(self, state: UploadState, call: Callable[[Store], Result]) -> Result:
        """Makes a request to the store: with valid credentials, and repeated if it failed temporarily."""

        def attempt() -> Result:
            self._sending = 0
            is_stale = 0 < self._stale_at <= time.time()
            store = self._reissue(state) if self._store is None or is_stale else self._store
            try:
                return call(store)
            except StoreError as error:
                if error.status != 401 and error.code not in _CREDENTIAL_CODES:
                    raise
            self._sending = 0
            return call(self._reissue(state))

        try:
            return self._services.retrying.run(attempt)
        except StoreError as error:
            if error.status == 404:
                # The gateway knows whether the store lost the parts, or made the object of them.
                self._is_lost = True
                raise _StartOver(str(error)) from error
            raise
        except EOFError:
            self._refuse_change(state, "became shorter")

    def _sent(self, state: UploadState, is_resumed: bool) -> UploadState:
        """Sends the bytes that the store does not have; returns the state with the ETag of the object."""
        source = self._source = state.source
        if source.size > state.part_size * _MOST_PARTS:
            limit = state.part_size * _MOST_PARTS
            self._abort(state, "the file is too large")
            raise SourceError(f"{source.path} has {source.size} bytes, more than the {limit} of {_MOST_PARTS} parts")
        with _opened(source.path) as descriptor:
            # Before the bytes are read, so that a later change is noticed.
            changed = os.fstat(descriptor).st_ctime_ns
            self._check_unchanged(state, descriptor)
            if source.size <= state.part_size:
                etag, count = self._sent_whole(state, descriptor, is_resumed), 0
            else:
                state = self._initiated(state)
                etags = self._sent_parts(state, descriptor)
                etag, count = self._stored_by(state, lambda store: store.join(state.multipart_id, etags)), len(etags)
        state = replace(state, source=replace(source, changed=changed), etag=etag, part_count=count)
        self._file.write(state)
        return state

    def _sent_whole(self, state: UploadState, descriptor: int, is_resumed: bool) -> str:
        self._stored, piece = 0, Piece(state.source.path, descriptor, 0, state.source.size)
        if is_resumed:
            stored = self._stored_by(state, lambda store: store.head())
            if stored is not None and self._is_stored(state, piece, stored):
                self._acknowledge(state, piece)
                return stored[1]
        etag = self._stored_by(state, lambda store: store.put(piece))
        self._check_unchanged(state, descriptor)
        self._acknowledge(state, piece)
        return etag

    def _initiated(self, state: UploadState) -> UploadState:
        if state.multipart_id:
            return state
        state = replace(state, multipart_id=self._stored_by(state, lambda store: store.initiate()))
        self._file.write(state)
        return state

    def _sent_parts(self, state: UploadState, descriptor: int) -> list[str]:
        """Sends the parts that the store does not have; returns the ETags of all parts."""
        self._stored = 0
        listed = self._stored_by(state, lambda store: store.list_parts(state.multipart_id))
        stored = {part.number: (part.size, part.etag) for part in listed}
        etags: list[str] = []
        for number, piece in enumerate(_pieces(state, descriptor), start=1):
            if number in stored and self._is_stored(state, piece, stored[number]):
                etag = stored[number][1]
            else:
                etag = self._sent_part(state, number, piece)
            self._check_unchanged(state, descriptor)
            self._acknowledge(state, piece)
            etags.append(etag)
        return etags

    def _sent_part(self, state: UploadState, number: int, piece: Piece) -> str:
        etag = self._stored_by(state, lambda store: store.put_part(state.multipart_id, number, piece))
        self._recoveries = 0
        return etag

    def _is_stored(self, state: UploadState, piece: Piece, stored: tuple[int, str]) -> bool:
        """Whether the store has these bytes: size and ETag, which is the MD5, are equal."""
        size, etag = stored
        try:
            return size == piece.size and etag.strip('"').lower() == piece.md5().hex()
        except EOFError:
            self._refuse_change(state, "became shorter")

    # The file

    def _check_unchanged(self, state: UploadState, descriptor: int) -> None:
        """Aborts the upload if the file is not the same any more: parts of two versions do not belong together."""
        try:
            change = state.source.change(os.fstat(descriptor)) or state.source.change(os.stat(state.source.path))
        except OSError as error:
            change = f"cannot be read: {error.strerror}"
        if change is not None:
            self._refuse_change(state, change)

    def _refuse_change(self, state: UploadState, change: str) -> NoReturn:
        self._abort(state, "the file changed")
        raise FileChangedError(f"{state.source.path} {change} while it was uploaded: upload it again")

    def _on_sent(self, count: int) -> None:
        self._sending += count
        self._report_progress()

    def _acknowledge(self, state: UploadState, piece: Piece) -> None:
        self._stored, self._sending = self._stored + piece.size, 0
        self._report_progress()

    def _report_progress(self) -> None:
        if self._progress is not None:
            self._progress(Progress(self._source.path, self._stored + self._sending, self._source.size))


def _stored(state: UploadState, reply: Message) -> UploadState:
    """Returns the state of an upload whose bytes are all in the store."""
    if not reply.oss_object_etag:
        raise ProtocolError("the gateway returned a stored object without an ETag")
    upload_id = reply.current_upload_id or state.upload_id
    return replace(state, upload_id=upload_id, etag=reply.oss_object_etag, part_count=reply.completed_part_count)


def _is_etag_of(digests: list[bytes], state: UploadState) -> bool:
    """Whether the ETag is that of the file's parts: of one that was put whole its MD5, else the MD5 of their MD5s as text."""
    if state.part_count == 0:
        expected = md5(b"").hexdigest() if not digests else digests[0].hex()
    else:
        text = "".join(each.hex().upper() for each in digests)
        expected = f"{md5(text.encode()).hexdigest()}-{state.part_count}"
    return state.etag.strip('"').lower() == expected


def _pieces(state: UploadState, descriptor: int) -> Iterator[Piece]:
    for start in range(0, state.source.size, state.part_size):
        yield Piece(state.source.path, descriptor, start, min(state.part_size, state.source.size - start))


@contextlib.contextmanager
def _opened(path: str) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)
