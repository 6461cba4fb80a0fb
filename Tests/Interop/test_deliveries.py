"""Totals of deliveries: put by a command and by a call, read by others, and exact over a crash."""

import json
import random
import sqlite3
import threading
import urllib.request

import grpc
import pytest

from details import failure, reason
from protos import delivery_service as ds
from protos import delivery_service_grpc
from protos import event as e
from protos import service as s
from server import wait_until
from test_credentials import KeysFile, bearer
from test_metrics import scrape, values
from test_terminal_commands import run

SECONDS = 60
NAMES = """\
id,name,product,sent_at,platform,sent,delivered,failed
56c4,Spring sale,standard,2026-11-20T10:00:00Z,android,4100,4055,45
56c4,,,,ios,2000,1990,10
77,Autumn,,,,,1200,
"""
SALE = {
    "tenant": "default", "delivery": "56c4", "name": "Spring sale", "product": "standard",
    "sent_at": "2026-11-20T10:00:00.000Z", "platforms": [
        {"platform": "android", "sent": 4100, "delivered": 4055, "failed": 45},
        {"platform": "ios", "sent": 2000, "delivered": 1990, "failed": 10}]}
AUTUMN = {"tenant": "default", "delivery": "77", "name": "Autumn",
          "platforms": [{"delivered": 1200}]}
KILLS = 4


def put(channel, *deliveries: ds.DeliveryTotals, key: str = "") -> ds.PutDeliveriesResponse:
    return delivery_service_grpc.DeliveryServiceStub(channel).PutDeliveries(
        ds.PutDeliveriesRequest(deliveries=deliveries), metadata=bearer(key) if key else (),
        timeout=SECONDS)


def totals(delivery: str, delivered: int = 1, **fields) -> ds.DeliveryTotals:
    return ds.DeliveryTotals(
        delivery_id=delivery, platforms=[ds.PlatformTotals(delivered=delivered)], **fields)


def listed(server, *options) -> list[dict]:
    told = run("deliveries", "list", "--data-dir", server.directory, "--json", *options).stdout
    return [json.loads(line) for line in told.splitlines()]


def sends(delivery: str, count: int) -> list[e.TrackingEvent]:
    return [e.TrackingEvent(platform=e.PLATFORM_ANDROID, push_send=e.PushSend(
        delivery_id=delivery, broadlog_id=f"h{number:x}", outcome=e.PUSH_SEND_OUTCOME_SENT))
            for number in range(count)]


def record(channel, server, events: list[e.TrackingEvent]) -> s.Tally:
    return server.stub(channel).RecordEvents(
        s.RecordEventsRequest(events=events), timeout=SECONDS).tally


def names_of(server, *options) -> dict[str, tuple]:
    """The names and numbers delivered in a report."""
    answer = json.loads(run("report", "--data-dir", server.directory, "--json", *options).stdout)
    return {row["delivery_id"]: (row.get("name"), row.get("delivered"))
            for row in answer["deliveries"]["rows"]}


def test_a_file_is_put_listed_and_in_reports(make_server, tmp_path):
    """Running and stopped; the newest put of a delivery replaces the one before wholly."""
    server, names = make_server().start(), tmp_path / "names.csv"
    names.write_text(NAMES)
    done = run("deliveries", "put", names, "--target", server.target)
    assert (done.stdout, done.stderr) == ("2 deliveries are stored\n", "")
    assert listed(server) == [SALE, AUTUMN]
    assert listed(server, "--tenant", "other") == []
    assert names_of(server) == {"56c4": ("Spring sale", 6045), "77": ("Autumn", 1200)}
    assert names_of(server, "--delivery", "77") == {"77": ("Autumn", 1200)}
    # A file that is named counts alone.
    other = tmp_path / "other.csv"
    other.write_text("id,name,delivered\n99,Winter,7\n")
    assert names_of(server, "--deliveries", other) == {"99": ("Winter", 7)}
    assert run("deliveries", "put", other, "--target", server.target
               ).stdout == "1 delivery is stored\n"
    other.write_text("id\n56c4\n")
    run("deliveries", "put", other, "--target", server.target)
    assert server.terminate() == 0
    assert [line["delivery"] for line in listed(server)] == ["56c4", "77", "99"]
    assert listed(server)[0] == {"tenant": "default", "delivery": "56c4", "platforms": []}
    assert names_of(server)["56c4"] == (None, None)
    table = run("deliveries", "list", "--data-dir", server.directory).stdout.splitlines()
    assert table[0].split()[:3] == ["tenant", "id", "name"] and len(table) == 4
    assert "1,200" in table[2]


def test_a_delivery_is_asked_for_by_the_name_that_was_put(make_server, tmp_path):
    server, names = make_server().start(), tmp_path / "names.csv"
    names.write_text(NAMES)
    run("deliveries", "put", names, "--target", server.target)
    for _ in range(2):
        done = run("why", "SPRING sale", "--data-dir", server.directory)
        assert "delivery 56c4" in done.stdout, done
        assert 'this is the delivery 56c4, "Spring sale"' in done.stderr, done
        if server.process.poll() is None:
            assert server.terminate() == 0


def test_what_is_rejected_is_told_by_its_line(make_server, tmp_path):
    server, names = make_server("--set=deliveries.max_rows=1").start(), tmp_path / "names.csv"
    names.write_text(f"id,name\n1,{'n' * 257}\n2,fits\n3,too many\n")
    done = run("deliveries", "put", names, "--target", server.target, code=1)
    assert done.stdout == "1 delivery is stored\n"
    told = done.stderr.splitlines()
    assert told[0].startswith(f"{names}: line 2: delivery 1: name: 257 bytes"), told
    assert told[1].startswith(f"{names}: line 4: delivery 3: deliveries: ") \
        and "deliveries.max_rows" in told[1], told
    assert [line["delivery"] for line in listed(server)] == ["2"]


def test_metrics_show_how_full_the_file_is(make_server):
    """Also those of an earlier process, before anything is put."""
    server = make_server("--set=deliveries.max_rows=3").start()

    def fill() -> tuple[float, float]:
        now = values(scrape(server)[0])
        return now["sightline_deliveries_rows"], now["sightline_deliveries_limit_rows"]

    assert fill() == (0, 3)
    with server.channel() as channel:
        put(channel, totals("1"), totals("2"), totals("1", 2))
        put(channel, totals("2"))
        assert fill() == (2, 3)
        assert put(channel, totals("3"), totals("4")).stored_count == 1
    assert fill() == (3, 3)
    assert server.terminate() == 0
    server.start()
    assert fill() == (3, 3)


def test_a_file_that_is_not_usable_is_not_put(make_server, tmp_path):
    server, names = make_server().start(), tmp_path / "names.csv"
    names.write_text("id,sent\n1,2\n3,many\n")
    done = run("deliveries", "put", names, "--target", server.target, code=1)
    assert f"{names}: line 3: sent is" in done.stderr and listed(server) == []
    run("deliveries", "put", tmp_path / "none.csv", "--target", server.target, code=66)
    names.write_text("id\n1\n")
    assert server.terminate() == 0
    run("deliveries", "put", names, "--target", server.target, code=69)
    run("deliveries", "list", "--data-dir", tmp_path / "none", code=69)


def test_facts_win_over_totals_and_why_says_where_they_differ(make_server):
    server = make_server().start()
    with server.channel() as channel:
        assert record(channel, server, sends("56c4", 100) + sends("77", 100)).accepted == 200
        put(channel, totals("56c4", 120), totals("77", 110))
        told = server.stub(channel).ExplainDelivery(
            s.ExplainDeliveryRequest(delivery_id="56c4"), timeout=SECONDS)
        [finding] = [found for found in told.findings if found.code == "TOTALS_DIFFER"]
        assert [figure.value for figure in finding.figures] == [20, 120, 100]
    for _ in range(2):
        where = ("--data-dir", server.directory)
        assert "TOTALS_DIFFER  120 messages were delivered" in run("why", "56c4", *where).stdout
        assert "TOTALS_DIFFER" not in run("why", "77", *where).stdout
        if server.process.poll() is None:
            assert server.terminate() == 0


def page(server) -> dict:
    with urllib.request.urlopen(f"{server.admin}stats.json", timeout=SECONDS) as answer:
        return json.load(answer)


def test_the_page_and_the_report_know_what_was_put(make_server, tmp_path):
    """A delivery without a hit is told with its totals; once it is sent, it has its name, and its
    totals are compared."""
    names = tmp_path / "names.csv"
    names.write_text(NAMES)
    server = make_server().start()
    run("deliveries", "put", names, "--target", server.target)
    sale = {"tenant": "default", "delivery_id": "56c4", "name": "Spring sale", "sent": 6100,
            "delivered": 6045, "failed": 55}
    autumn = {"tenant": "default", "delivery_id": "77", "name": "Autumn", "delivered": 1200}
    wait_until(lambda: page(server)["deliveries"]["put"] == [autumn, sale],
               "the deliveries that were put", 10)
    with server.channel() as channel:
        record(channel, server, sends("56c4", 30))
    wait_until(lambda: page(server)["deliveries"]["busiest"], "the delivery that was sent", 10)
    told = page(server)
    [row] = told["deliveries"]["busiest"]
    assert (row["name"], row["sent"], row["delivered_rate"]) == ("Spring sale", 30, 1)
    assert told["deliveries"]["put"] == [autumn]
    assert [finding["code"] for finding in told["quality"]] == ["TOTALS_DIFFER"]
    server.wait_for_hits(30)
    for _ in range(2):
        answer = json.loads(run("report", "--data-dir", server.directory, "--json").stdout)
        assert [(found["delivery"], found["code"]) for found in answer["quality"]] == [
            ("56c4", "TOTALS_DIFFER")]
        if server.process.poll() is None:
            assert server.terminate() == 0


def test_a_key_needs_the_scope_deliveries_and_reaches_its_own_tenant_alone(
        make_server, tmp_path):
    keys = KeysFile(tmp_path / "keys.jsonl")
    acme, globex = (keys.new(name, "--scopes", "deliveries") for name in ("acme", "globex"))
    without = keys.new("acme", "--scopes", "erase,tap,unmask")
    server = make_server("--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}").start()
    with server.channel() as channel:
        refused = failure(lambda: put(channel, totals("56c4"), key=without))
        assert refused.code() == grpc.StatusCode.PERMISSION_DENIED
        assert reason(refused) == "SCOPE_MISSING"
        assert "lack the scope `deliveries`" in refused.details()
        assert reason(failure(lambda: put(channel, totals("56c4")))) == "CREDENTIALS_MISSING"
        assert listed(server) == []
        assert put(channel, totals("56c4", 1, name="of acme"), key=acme).stored_count == 1
        assert put(channel, totals("56c4", 2), key=globex).stored_count == 1
    assert [(line["tenant"], line.get("name"), line["platforms"]) for line in listed(server)] == [
        ("acme", "of acme", [{"delivered": 1}]), ("globex", None, [{"delivered": 2}])]
    key = tmp_path / "key.txt"
    key.write_text(without)
    names = tmp_path / "names.csv"
    names.write_text("id\n1\n")
    done = run("deliveries", "put", names, "--target", server.target, "--api-key-file", key,
               code=1)
    assert "scope" in done.stderr, done


def test_a_request_has_as_many_deliveries_as_may_be_and_not_one_more(make_server):
    """Each with the longest texts: a whole request is within the message's limit."""
    server = make_server().start()
    batch = [ds.DeliveryTotals(
        delivery_id=f"{number:0256}", name="n" * 256, platforms=[
            ds.PlatformTotals(platform=platform, sent=10**12, delivered=10**12, failed=10**12)
            for platform in range(3)]) for number in range(1001)]
    with server.channel() as channel:
        refused = failure(lambda: put(channel, *batch))
        assert refused.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert reason(refused) == "REQUEST_TOO_LARGE" and listed(server) == []
        assert put(channel, *batch[:1000]).stored_count == 1000
    assert len(listed(server)) == 1000


def test_a_locked_file_stores_nothing_and_says_so(make_server):
    server = make_server().start()
    holder = sqlite3.connect(server.directory / "deliveries.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with server.channel() as channel:
        refused = failure(lambda: put(channel, totals("56c4")))
        assert refused.code() == grpc.StatusCode.UNAVAILABLE
        assert reason(refused) == "DELIVERIES_FAILED"
        holder.execute("ROLLBACK")
        holder.close()
        assert put(channel, totals("56c4")).stored_count == 1
    assert len(listed(server)) == 1


def put_until_it_is_gone(server, number: int, acked: dict[str, int], begun) -> None:
    """Puts the same 50 deliveries again and again, each time with another figure for all."""
    with server.channel() as channel:
        while True:
            try:
                put(channel, *(totals(f"d{index}", number) for index in range(50)))
            except grpc.RpcError:
                return
            acked["newest"] = number
            begun.set()
            number += 1


@pytest.mark.timeout(600)
def test_a_put_is_there_whole_after_a_kill(make_server, amount, seed):
    """What was answered is there, and of the one under way all or nothing."""
    moments, acked = random.Random(seed), {"newest": 0}
    server = make_server()
    for _ in range(amount(KILLS, 50)):
        server.start()
        begun = threading.Event()
        putting = threading.Thread(
            target=put_until_it_is_gone, args=(server, acked["newest"] + 1, acked, begun))
        putting.start()
        assert begun.wait(SECONDS)
        # A random moment among the puts; that of the kill is what differs, and no result.
        threading.Event().wait(moments.random() / 5)
        server.kill()
        putting.join(SECONDS)
        figures = {line["platforms"][0]["delivered"] for line in listed(server)}
        assert len(listed(server)) == 50 and len(figures) == 1, figures
        assert figures <= {acked["newest"], acked["newest"] + 1}, (figures, acked)
        acked["newest"] = max(figures)
