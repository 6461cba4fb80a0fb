"""Sends events by Python's client library and ends in a way that test_client_endings.py names."""

import argparse
import os
import pathlib
import signal
import sys

import sightline


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("ending", choices=["closed", "not closed", "exception", "exit", "killed"])
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True, help="of the close")
    parser.add_argument("--token")
    parser.add_argument("--tls-roots", type=pathlib.Path)
    parser.add_argument("--spool")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    client = sightline.Client(
        options.target, token=options.token, close_timeout=options.seconds,
        tls=sightline.Tls(options.tls_roots.read_bytes()) if options.tls_roots else None,
        spool=sightline.Spool(options.spool) if options.spool else None)

    def send() -> None:
        for number in range(options.events):
            client.send(sightline.in_app_shown("welcome", event_id=f"{number}"))

    if options.ending == "not closed":
        return send()
    with client:
        send()
        if options.ending == "exception":
            raise ValueError("of the block")
        if options.ending == "exit":
            sys.exit(0)
        if options.ending == "killed":
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
