"""Asks a lake as docs/lake.md says, by one engine, in a process of its own: the page's blocks, run
as they stand there, in a folder that has the table `lake`.

Usage: lake_readers.py ENGINE < REQUEST > ANSWERS. The request is JSON with `blocks`, run in order,
and `questions`: SQL, or for Polars the names of frames. The answers are a list of rows for each.
"""

import datetime
import json
import os
import sys


def duckdb_answer(names: dict, question: str) -> list:
    names["question"] = question
    # In the page's own names: DuckDB finds `hits` among them.
    exec("answer = duckdb.sql(question).fetchall()", names)
    return names["answer"]


def clickhouse_answer(names: dict, question: str) -> list:
    text = str(names["clickhouse"].query(question, "JSONCompactEachRow"))
    return [json.loads(line) for line in text.splitlines() if line]


def polars_answer(names: dict, question: str) -> list:
    return names[question].collect().rows()


ENGINES = {"duckdb": duckdb_answer, "clickhouse": clickhouse_answer, "polars": polars_answer}


def main() -> None:
    answer = ENGINES[sys.argv[1]]
    request = json.load(sys.stdin)
    answers, sys.stdout = sys.stdout, sys.stderr
    names = {"__name__": "page"}
    for block in request["blocks"]:
        exec(compile(block, "docs/lake.md", "exec"), names)
    json.dump([answer(names, question) for question in request["questions"]], answers,
              default=lambda value: value.isoformat() if isinstance(value, datetime.date)
              else value.hex())
    answers.flush()
    # DuckDB over a pyarrow dataset may abort as the interpreter ends: threads of its own still run.
    os._exit(0)


if __name__ == "__main__":
    main()
