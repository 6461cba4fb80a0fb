"""The program: takes hits from Sightline's sink `grpc` into a Delta table."""

import asyncio
import pathlib
import signal
import sys

from deltalake.exceptions import DeltaError

from . import metrics
from .configuration import Configuration, parse
from .lake import Lake
from .lock import Refused, hold
from .log import log
from .service import Service, make_server
from .stage import Stage
from .table import Table

# As in sysexits.h: the table or the state are not for this lake, or cannot be read or written.
EX_CONFIG, EX_IOERR = 78, 74
# How long streams may take to end after they were asked to.
GRACE_SECONDS = 5


async def run(configuration: Configuration) -> None:
    """Serves until SIGTERM or SIGINT, or until the table is refused."""
    state = pathlib.Path(configuration.state)
    state.mkdir(parents=True, exist_ok=True)
    hold(state)
    table = Table(configuration)
    stage = Stage(state / "staged", configuration.publish_bytes, table.position)
    lake = Lake(configuration, stage, table)
    service, stopping = Service(lake), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    server, port = make_server(service, configuration)
    metrics_port = metrics.serve(configuration.metrics, lake.figures)
    await server.start()
    log("info", "listening", port=port, metrics_port=metrics_port, table=configuration.table)
    tasks = [asyncio.ensure_future(work) for work in
             (stopping.wait(), lake.publish_regularly(), lake.tidy_regularly())]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    service.draining.set()
    await server.stop(GRACE_SECONDS)
    for task in done:
        task.result()
    # Behind a commit that is under way.
    await lake.publish()
    log("info", "stopped")


def main() -> None:
    """Runs the program; ends with 78 or 74 if it may or can not run."""
    try:
        asyncio.run(run(parse()))
    except (Refused, DeltaError, OSError) as error:
        log("critical", "the lake cannot run", reason=str(error))
        sys.exit(EX_CONFIG if isinstance(error, Refused) else EX_IOERR)


if __name__ == "__main__":
    main()
