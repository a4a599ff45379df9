"""A writer with 32 callers, killed at random: each acknowledged write exists, and no write is incomplete."""

import random
import threading

import grpc
import pytest
from support.database import rows
from support.faults import Faults
from support.gateway import Gateway
from support.oss import Credentials
from support.parties import Fleet, unique
from support.raw import RawStore
from support.uploads import content

pytestmark = pytest.mark.sqlite

CALLERS = 32
KILLS, FULL_KILLS = 10, 200
DATA = content(5000)
#: The rows of an object, its upload and its audit line, which were written in the same transaction.
HALVES = {
    "uploads without the line of their creation": """
        SELECT 'uploads/' || id FROM uploads
        EXCEPT SELECT target FROM audit WHERE action = 'CreateLogicalUpload'""",
    "lines without their upload": """
        SELECT target FROM audit WHERE action = 'CreateLogicalUpload'
        EXCEPT SELECT 'uploads/' || id FROM uploads""",
    "uploads without their logical one": """
        SELECT id FROM uploads WHERE logical_id NOT IN (SELECT id FROM logical_uploads)""",
    "completed uploads without an object": """
        SELECT id FROM uploads WHERE state = 4 AND id NOT IN (SELECT upload_id FROM objects)""",
    "objects of uploads that are not completed": """
        SELECT upload_id FROM objects WHERE upload_id NOT IN (SELECT id FROM uploads WHERE state = 4)""",
    "objects without their tag": """
        SELECT upload_id FROM objects WHERE position NOT IN (SELECT position FROM object_tags)""",
    "completions without their line": """
        SELECT 'uploads/' || upload_id FROM objects
        EXCEPT SELECT target FROM audit WHERE action = 'CompleteUpload'""",
}


class Callers:
    """32 threads that begin uploads, and complete every fourth, as fast as possible."""

    def __init__(self, uploader, run: str):
        self.uploader, self.run = uploader, run
        self.created: set[str] = set()
        self.completed: set[str] = set()
        self.wrong: list[BaseException] = []
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._call, args=(number,)) for number in range(CALLERS)]

    def __enter__(self) -> "Callers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _call(self, number: int) -> None:
        turn = number
        while not self._ended.is_set():
            try:
                reply = self.uploader.create()
                self.created.add(reply.upload_id)
                turn += 1
                if turn % 4 == 0:
                    response = RawStore(Credentials.of(reply.credentials)).request("PUT", body=DATA)
                    if response.status != 200:
                        return
                    self.uploader.complete(
                        reply.upload_id,
                        file_size=len(DATA),
                        oss_object_etag=response.headers["ETag"],
                        raw_tags={"run": self.run},
                    )
                    self.completed.add(reply.upload_id)
            except (grpc.RpcError, OSError, ValueError) as error:
                # The kill came; a channel that the test closed raises ValueError.
                if isinstance(error, grpc.RpcError) and error.code() in (
                    grpc.StatusCode.NOT_FOUND,
                    grpc.StatusCode.FAILED_PRECONDITION,
                ):
                    self.wrong.append(error)
                return


def column(gateway: Gateway, statement: str) -> list:
    return [value for value, *_ in rows(gateway, statement)]


@pytest.mark.parametrize("end", ["kill", "power"])
def test_kills_at_any_moment_lose_nothing_of_32_callers(request, binary, tmp_path, login, is_full, end):
    gateway = Gateway(binary, tmp_path, {"quota": {"device_uploads": 1_000_000}})
    faults = Faults(tmp_path, gateway.data)
    faults.journal = end == "power"
    gateway.environment = faults.environment
    request.addfinalizer(gateway.close)
    gateway.start()
    uploader = Fleet.create(login(gateway)).uploader()
    run, moments = unique("run"), random.Random(5)
    created: set[str] = set()
    completed: set[str] = set()
    kills = FULL_KILLS if is_full else KILLS // 2
    for number in range(10 * kills):
        # On a slow disk, the first kills come before anything is complete.
        if number >= kills and len(created) > 20 and completed:
            break
        with Callers(uploader.sign_in(), run) as callers:
            # Not a wait for a condition: the moment of the kill is what is tested.
            threading.Event().wait(moments.uniform(0, 0.5))
            if end == "power":
                gateway.cut_power(faults)
            else:
                gateway.kill()
        gateway.start()
        assert not callers.wrong
        created |= callers.created
        completed |= callers.completed
        assert created <= set(column(gateway, "SELECT id FROM uploads"))
        found = login(gateway).list_all(filter=f"raw_tags.run={run}", page_size=1000)
        listed = {(file.file_id, file.size_bytes) for file in found}
        assert completed <= set(column(gateway, "SELECT upload_id FROM objects"))
        assert len(listed) == len(column(gateway, "SELECT upload_id FROM objects"))
        files = {path.name: path.stat().st_size for path in gateway.data.glob("store/data/*/*")}
        assert all(files[file_id] == size == len(DATA) for file_id, size in listed)
        for what, statement in HALVES.items():
            assert column(gateway, statement) == [], what
        assert column(gateway, "PRAGMA integrity_check") == ["ok"]
    assert len(created) > 20 and completed
