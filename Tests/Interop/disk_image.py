"""A file system in a file: what a power cut leaves of it is what the block device has got."""

import pathlib
import shutil
import subprocess
import time

IMAGE_MIB = 256


def run(*arguments) -> str:
    """Runs a system tool; fails with what it says."""
    done = subprocess.run([str(argument) for argument in arguments], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def make(path: pathlib.Path) -> pathlib.Path:
    """An image with an empty ext4."""
    with path.open("wb") as file:
        file.truncate(IMAGE_MIB << 20)
    run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", path)
    return path


def mount(image: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Mounts an image. The file system's own commits are put off: what is not synced is not
    there, as on a machine whose power fails within the first seconds."""
    folder.mkdir(exist_ok=True)
    run("mount", "-o", "loop,commit=300,nodelalloc,nodiscard", image, folder)
    return folder


def unmount(folder: pathlib.Path) -> None:
    """Unmounts it, once the last process has gone."""
    deadline = time.monotonic() + 10
    while True:
        try:
            run("umount", folder)
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def cut(image: pathlib.Path, to: pathlib.Path) -> pathlib.Path:
    """The image as the power leaves it: without a sync of the file system in it. The copy reads
    the image's file, which holds what the loop device was given, and nothing that only the file
    system's memory holds."""
    run("cp", "--sparse=always", image, to)
    return to


def remove(path: pathlib.Path) -> None:
    """Removes what was made."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
