"""Temporary real file systems: a small one, and one on a disk that can become full below it, like a thin volume."""

import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

MIB = 1 << 20
PAGE = os.sysconf("SC_PAGESIZE")
SIZE, POOL_SIZE = 64 * MIB, 128 * MIB


class Unavailable(Exception):
    """This machine does not offer loop devices; the message names the failed command."""


def _run(*command) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=30)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout.strip()


def _undo(*command) -> None:
    """Runs a command at the end of a test, and ignores its failure."""
    subprocess.run([str(part) for part in command], capture_output=True, timeout=30)


class SmallDisk:
    """A tmpfs of `size` bytes at `folder`, which other programs can fill, too. Used with `with`."""

    def __init__(self, folder: Path, size: int):
        self.folder, self._size = folder, size
        self._filling = folder / "filling"

    def __enter__(self) -> "SmallDisk":
        if os.geteuid() != 0:
            raise Unavailable("only root may mount")
        self.folder.mkdir()
        _run("mount", "-t", "tmpfs", "-o", f"size={self._size}", "tmpfs", self.folder)
        return self

    def __exit__(self, *_) -> None:
        _undo("umount", "--lazy", self.folder)

    def fill(self) -> None:
        """Writes until no page is free."""
        with open(self._filling, "ab", buffering=0) as file:
            for size in (MIB, 4096):
                try:
                    while file.write(bytes(size)):
                        pass
                except OSError:
                    pass

    def free(self) -> None:
        """Removes what `fill` wrote."""
        self._filling.unlink()

    @property
    def free_bytes(self) -> int:
        status = os.statvfs(self.folder)
        return status.f_bavail * status.f_frsize


class ThinDisk:
    """ext4 on a loop device on a tmpfs. `folder` is the file system; `fill` takes the space below it, `free` returns
    it.

    It writes names and modes only when a program syncs them, not every few seconds as well, so that a power loss shows
    what a program has not synced however slow the machine is. Used with `with`, which removes everything at the end.
    """

    def __init__(self, directory: Path, folder: Path | None = None):
        self._directory = directory
        self._pool, self.folder = directory / "pool", folder or directory / "mount"
        self._image, self._filling = self._pool / "image", self._pool / "filling"
        self._ends = ExitStack()

    def __enter__(self) -> "ThinDisk":
        if os.geteuid() != 0:
            raise Unavailable("only root may mount")
        try:
            self._pool.mkdir()
            _run("mount", "-t", "tmpfs", "-o", f"size={POOL_SIZE}", "tmpfs", self._pool)
            self._ends.callback(_undo, "umount", "--lazy", self._pool)
            with open(self._image, "wb") as image:
                image.truncate(SIZE)
            _run(
                "mkfs.ext4",
                "-q",
                "-b",
                str(PAGE),
                "-E",
                "nodiscard,lazy_itable_init=0,lazy_journal_init=0",
                self._image,
            )
            # Allocates the whole image, including mkfs's holes: the file system's own journal must not be what fails.
            with open(self._image, "r+b") as image:
                os.posix_fallocate(image.fileno(), 0, SIZE)
            self._mount(self._image, self.folder)
        except BaseException:
            self._ends.close()
            raise
        return self

    def __exit__(self, *_) -> None:
        self._ends.close()

    def _mount(self, image: Path, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        device = _run("losetup", "--find", "--show", image)
        self._ends.callback(_undo, "losetup", "--detach", device)
        # A request of one page is either written or fails. For a larger one that finds the pool full after its first
        # page, the loop device would report success for the whole.
        Path(f"/sys/block/{Path(device).name}/queue/max_sectors_kb").write_text(str(PAGE // 1024))
        _run("mount", "-t", "ext4", "-o", "commit=600", device, folder)
        self._ends.callback(_undo, "umount", "--lazy", folder)

    def fill(self) -> None:
        """Leaves no free space except for existing contents: new blocks cannot be written."""
        os.sync()
        # Free blocks return their space.
        _run("fstrim", self.folder)
        with open(self._filling, "wb", buffering=0) as file:
            try:
                while file.write(bytes(MIB)):
                    pass
            except OSError:
                pass
            # The last pages, for which a whole MiB was too large.
            try:
                while file.write(bytes(PAGE)):
                    pass
            except OSError:
                pass

    def free(self) -> None:
        self._filling.unlink()

    def after_power_loss(self) -> Path:
        """Mounts the state of the file system on the disk at this moment beside this one; its own journal is replayed."""
        copy, folder = self._directory / "copy", self._directory / "copy-mount"
        # Data that the kernel has not written yet is not in the image.
        shutil.copyfile(self._image, copy)
        self._mount(copy, folder)
        return folder

    def lose_power(self) -> None:
        """Replaces the file system by its state on the disk at this moment. No process may use it; another power loss is
        not possible."""
        copy = self._directory / "copy"
        shutil.copyfile(self._image, copy)
        _run("umount", self.folder)
        self._mount(copy, self.folder)

    def sync(self) -> None:
        """Makes the present state durable."""
        _run("sync", "--file-system", self.folder)
