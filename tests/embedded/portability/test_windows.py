"""Files of secrets and backups where the system has no owner, mode or flag of POSIX."""

import os
from contextlib import closing
from types import SimpleNamespace

import pytest

from engrain import Memory

WINDOWS = SimpleNamespace(platform="win32")


@pytest.fixture
def windows(monkeypatch):
    for module in ("portability.sealed_files", "portability.signing", "interfaces.local_token"):
        monkeypatch.setattr(f"engrain.{module}.sys", WINDOWS)
    for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_DIRECTORY", "geteuid"):
        monkeypatch.delattr(os, name)


@pytest.mark.usefixtures("tmp_path", "windows")  # the folder is removed last, with the flags at hand again
def test_a_backup_is_signed_with_a_key_of_its_file_and_restored(tmp_path, monkeypatch):
    monkeypatch.delenv("ENGRAIN_BACKUP__SIGNING_KEY")
    place = str(tmp_path / "memory.db")
    with closing(Memory.open(place, embedder="none")) as memory:
        kept = memory.agent("a").observe("The key is under the mat.")
        memory.backup(tmp_path / "one.backup")
        assert (tmp_path / "memory.db.backup-key").is_file()
        memory.agent("a").erase(kept.id)
        memory.agent("a").observe("Another.")
        memory.restore(tmp_path / "one.backup", with_erased=True)
        assert {episode.content for episode in memory.agent("a").list("episode").items} == {
            "The key is under the mat.",
            "Another.",
        }


@pytest.mark.usefixtures("tmp_path", "windows")
def test_a_token_is_made_and_read_again(tmp_path, monkeypatch):
    from engrain.interfaces import local_token

    monkeypatch.setattr(local_token, "token_file", lambda: tmp_path / "token")
    assert local_token.read_token() == local_token.read_token()
