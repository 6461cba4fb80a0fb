"""The Delta table: what is committed to it, and how far each journal and sink is."""

import hashlib
import hmac
import json
import os
import pathlib
import secrets
import time
from collections.abc import Sequence
from dataclasses import astuple
from functools import partial
from typing import Any

import pyarrow as pa
from deltalake import (ColumnProperties, CommitProperties, DeltaTable, Schema, Transaction,
                       WriterProperties, write_deltalake)
from deltalake.exceptions import TableNotFoundError

from . import hits
from .configuration import Configuration
from .lock import Refused, hold
from .log import log
from .position import Position
from .schema import MEASURED, PARTITIONS, SCHEMA
from .staged_file import NOWHERE, StagedFile, count_known

# What is behind the name of a journal and sink for the numbers of its position.
MARKS = ("", "#index", "#check")
# The table's name, and the application whose transactions number its writers.
NAME = "sightline-lake"
# Values that hardly repeat: a dictionary of them takes time, and space too.
UNIQUE = ("hit_id", "broadlog_id", "subject_id", "event_id", "traceparent", "event")
PARQUET = WriterProperties(
    compression="ZSTD", compression_level=1,
    default_column_properties=ColumnProperties(statistics_enabled="NONE"),
    column_properties={
        **{name: ColumnProperties(statistics_enabled="CHUNK") for name in MEASURED},
        **{name: ColumnProperties(dictionary_enabled=False, statistics_enabled="NONE")
           for name in UNIQUE}})


class Table:
    """One table with one writer, which numbers itself in it: from then on an earlier writer's
    commits are refused. Methods raise Refused where the table is not to be written by this lake."""

    def __init__(self, configuration: Configuration) -> None:
        """Opens the table, or creates it."""
        self.url, self.patience = configuration.table, 2 * configuration.publish_seconds + 10
        path = pathlib.Path(configuration.state, "table.json")
        known = json.loads(path.read_text()) if path.exists() else {"writer": secrets.token_hex(8)}
        self.metadata = {"sightline.writer": known["writer"]}
        # Only who has it can ask the table whether somebody was erased.
        self.key = known.setdefault("key", secrets.token_hex(32)).encode()
        try:
            delta = DeltaTable(self.url)
        except TableNotFoundError:
            if "id" in known:
                raise Refused(f"{self.url} has no table, but {path} is of one. Restore it; or "
                              "delete the state, and servers send what journals have.") from None
            log("notice", "creating the table", table=self.url)
            delta = DeltaTable.create(
                self.url, SCHEMA, partition_by=list(PARTITIONS), name=NAME,
                configuration={"delta.dataSkippingStatsColumns": ",".join(MEASURED)})
        identity = str(delta.metadata().id)
        if known.setdefault("id", identity) != identity:
            raise Refused(f"{self.url} is the table {identity}, but {path} is of {known['id']}. "
                          "Name the folder of that one, or another state.")
        self._match(delta)
        self._take_over(delta)
        # Whole or not at all: a lake does not start with half of it.
        made = path.with_suffix(".new")
        with made.open("w") as file:
            file.write(json.dumps(known))
            file.flush()
            os.fsync(file.fileno())
        made.replace(path)

    def _match(self, delta: DeltaTable) -> None:
        """Compares the table's columns with ours, and adds those that are new."""
        metadata = delta.metadata()
        if metadata.name != NAME or metadata.partition_columns != list(PARTITIONS):
            raise Refused(f"{self.url} is a table of something else: its name is "
                          f"{metadata.name!r}. Name a folder of its own.")
        present = {field.name: field.type for field in delta.schema().fields}
        wanted = Schema.from_arrow(SCHEMA).fields
        for field in wanted:
            if present.get(field.name, field.type) != field.type:
                raise Refused(f"The column {field.name} of {self.url} is of {present[field.name]}, "
                              f"and hits have {field.type} there. Name a folder of its own.")
        if added := [field for field in wanted if field.name not in present]:
            log("notice", "adding columns", columns=[field.name for field in added])
            delta.alter.add_columns(added)

    def _take_over(self, delta: DeltaTable) -> None:
        """Becomes the one writer. A local folder is locked; elsewhere a writer that has just
        committed is left alone, and one that is idle finds out by its next commit."""
        last, writer = delta.history(1)[0], self.metadata["sightline.writer"]
        age = time.time() - last["timestamp"] / 1000
        if "://" not in self.url:
            hold(pathlib.Path(self.url))
        elif last.get("sightline.writer", writer) != writer and age < self.patience:
            raise Refused(f"Another sightline-lake committed to {self.url} {age:.0f} s ago: a "
                          f"table has one writer. Stop it, and try again in {self.patience} s.")
        self.number = (delta.transaction_version(NAME) or 0) + 1
        delta.create_write_transaction([], "append", delta.schema(), list(PARTITIONS),
                                       commit_properties=self._commit())

    def _commit(self, *more: Transaction) -> CommitProperties:
        """A commit that fails beside one of another writer."""
        return CommitProperties(app_transactions=[Transaction(NAME, self.number), *more],
                                custom_metadata=self.metadata)

    def _load(self) -> DeltaTable:
        """The newest version."""
        try:
            delta = DeltaTable(self.url)
        except TableNotFoundError:
            raise Refused(f"{self.url} has no table any more: restore it first.") from None
        if delta.transaction_version(NAME) != self.number:
            raise Refused(f"Another sightline-lake writes to {self.url}, or it was restored from a "
                          "copy. Start one alone.")
        return delta

    def position(self, app: str, delta: DeltaTable | None = None) -> Position | None:
        """Up to where the table has a journal and sink."""
        delta = delta or self._load()
        sequence, index, check = (delta.transaction_version(app + mark) for mark in MARKS)
        return None if sequence is None else Position(sequence, index or 0, check or 0)

    def append(self, files: Sequence[StagedFile], has_bytes: bool) -> int:
        """Commits the hits of files, except those of an earlier try that was made after all;
        returns how many."""
        delta, parts, marks = self._load(), [], []
        for app in dict.fromkeys(file.app for file in files):
            own, present = [file for file in files if file.app == app], self.position(app, delta)
            if (known := count_known(own, present)) is None:
                raise Refused(f"{self.url} is at {present} for {app}, and not at {own[0].after}: "
                              "it was restored from a copy. Start again: servers send the rest.")
            parts += [part for file in own[known:] for part in file.records()]
            numbers = astuple(own[-1].end or NOWHERE)
            marks += [Transaction(app + mark, number) for mark, number in zip(MARKS, numbers)]
        if parts:
            rows = pa.RecordBatchReader.from_batches(SCHEMA, hits.rows(parts, has_bytes))
            write_deltalake(delta, rows, mode="append", schema_mode="merge",
                            writer_properties=PARQUET, commit_properties=self._commit(*marks))
        return sum(map(len, parts))

    def erase(self, tenant: str, subjects: list[str]) -> tuple[int, int | None]:
        """Deletes a recipient's rows; returns how many, and when such rows were last deleted. The
        predicate stays in the table's log, so it has hashes in place of ids."""
        digests = sorted(hashlib.sha256(subject.encode()).hexdigest() for subject in subjects)
        quoted = tenant.replace("'", "''")
        predicate = (f"tenant = '{quoted}' AND encode(sha256(subject_id), 'hex') IN "
                     f"({', '.join(map(repr, digests))})")
        # One for each id: with another key of the server, the same recipient has more of them.
        marks = ["erased/" + hmac.digest(self.key, f"{tenant}/{digest}".encode(), "sha256").hex()
                 for digest in digests]
        transactions = [Transaction(mark, int(time.time())) for mark in marks]
        metrics = self._load().delete(predicate, writer_properties=PARQUET,
                                      commit_properties=self._commit(*transactions))
        times = map(self._load().transaction_version, marks)
        return metrics["num_deleted_rows"] or 0, max(filter(None, times), default=None)

    def files(self) -> list[dict[str, Any]]:
        """The files of the newest version: size_bytes, partition.tenant, partition.receive_date."""
        actions: Any = pa.table(self._load().get_add_actions(flatten=True))
        names = ["size_bytes", "partition.tenant", "partition.receive_date"]
        return list(actions.select(names).to_pylist())

    def compact(self, tenant: str, day: str, size: int, is_sorted: bool) -> None:
        """Makes larger files of a partition's small ones, sorted by delivery if asked."""
        optimize = self._load().optimize
        rewrite: Any = (partial(optimize.z_order, ["delivery_id"], max_spill_size=512 << 20)
                        if is_sorted else optimize.compact)
        rewrite(partition_filters=[("tenant", "=", tenant), ("receive_date", "=", day)],
                target_size=size, max_concurrent_tasks=1, writer_properties=PARQUET,
                commit_properties=CommitProperties(custom_metadata=self.metadata))

    def vacuum(self, hours: int) -> None:
        """Removes files that no version of the last hours has."""
        self._load().vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True)
