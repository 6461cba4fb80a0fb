"""The admin port as a browser, a probe and `sightline top` see it."""

import http.client
import http.server
import json
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from browser import open_page
from facts import Facts
from protos import event as e
from protos import service as s
from server import binary, wait_until

FIXTURES = ("apns-alert.json", "apns-tester.json", "fcm-sent.json")


def get(server, path: str, **headers) -> tuple[int, bytes]:
    request = urllib.request.Request(server.admin + path, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def statistics(server) -> dict:
    return json.loads(get(server, "stats.json")[1])


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(binary()), *arguments], capture_output=True, text=True, timeout=60)


def send(server, payloads, platform: str, *names: str) -> None:
    files = [str(payloads / name) for name in names]
    run("send", *files, "--target", server.target, "--platform", platform,
        "--interaction", "received,opened")


@pytest.fixture
def loaded(make_server, payloads):
    """A server with events of every kind: 2 accepted of iOS, 2 of Android, their 4 duplicates, and
    2 rejected for both ids."""
    server = make_server().start()
    for _ in range(2):
        send(server, payloads, "ios", "apns-alert.json")
        send(server, payloads, "android", "fcm-sent.json")
    send(server, payloads, "ios", "apns-tester.json")
    server.wait_for_hits(6)

    def is_counted():
        figures = statistics(server)
        hits = sum(sink["delivered_hits"] for sink in figures["sinks"])
        return hits == 6 and figures["events"]["rejected"] == 2
    wait_until(is_counted, "the figures to tell of all events")
    return server


def test_stats_json_counts_what_was_sent(loaded):
    figures = statistics(loaded)
    assert figures["events"] == {
        "accepted": 4, "suppressed": 0, "duplicate": 4, "rejected": 2, "retry_later": 0,
        "suppressed_by": dict.fromkeys(
            ("flag_off", "flag_unknown", "consent", "test_message", "display"), 0)}
    assert figures["is_ready"] and figures["not_ready"] == []
    funnels = {row["delivery_id"]: row for row in figures["deliveries"]["busiest"]}
    ios, android = funnels["56c4"], funnels["d57fd6"]
    assert (ios["impressions_ios"], ios["clicks_ios"], ios["opens_ios"]) == (1, 1, 1)
    assert (ios["impressions"], ios["clicks"], ios["opens"]) == (0, 0, 0)
    assert (android["impressions"], android["clicks"], android["opens"]) == (1, 1, 1)
    assert [row[side] for row in (ios, android) for side in ("dismissals", "dismissals_ios")] == (
        [0] * 4)
    rejected = {(row["field"], row["rule"]): row["count"] for row in figures["rejections"]}
    assert rejected == {("push.raw.json._dId", "REQUIRED"): 2,
                        ("push.raw.json._mId", "REQUIRED"): 2}
    history = figures["history"]
    sinks = history.pop("sinks")
    assert [sink.pop("name") for sink in sinks] == ["sqlite"]
    columns = [*history.values(), *sinks[0].values()]
    assert len({len(column) for column in columns if isinstance(column, list)}) == 1


def test_the_page_shows_the_figures_of_stats_json(loaded):
    with open_page(loaded.admin) as (page, complaints):
        page.wait_for_selector("#verdicts tr")
        shown = {cell.get_attribute("data-total"): int(cell.inner_text().replace(",", ""))
                 for cell in page.query_selector_all("[data-total]")}
        events = statistics(loaded)["events"]
        assert shown == {verdict: events[verdict] for verdict in shown} and len(shown) == 5
        assert page.inner_text("#state-text") == "Takes events"
        deliveries = page.inner_text("#deliveries")
        assert "56c4" in deliveries and "d57fd6" in deliveries
        assert "push.raw.json._mId" in page.inner_text("#rejections")
        assert "sqlite" in page.inner_text("#sinks")
        # What was drawn has a height: a plot of nothing would be a path without one.
        area = "document.querySelector('#events-plot path.accepted').getBBox().height"
        wait_until(lambda: page.evaluate(area) > 20, "a drawn area")
        assert complaints == []


def test_the_page_reads_a_plot_by_keyboard(loaded):
    with open_page(loaded.admin) as (page, complaints):
        page.wait_for_selector("#events-plot path.accepted[d*='L']", state="attached")
        page.focus("#events-plot svg")
        page.keyboard.press("End")
        assert "accepted" in page.inner_text("#events-plot output")
        label = page.get_attribute("#events-plot svg", "aria-label")
        assert label.startswith("Events per second by verdict: highest")
        page.keyboard.press("Escape")
        assert page.inner_text("#events-plot output") == ""
        assert complaints == []


def test_the_page_shows_sinks_in_app_messages_and_why_events_are_suppressed(make_server, seed):
    """Two sinks, of which one is paused and one has an error that looks like markup."""
    server = make_server("--set=sinks=[{type: sqlite}, {type: jsonl, required: false}]").start()
    facts = Facts(seed, int(time.time()))
    buttons = ["Buy", "<b>Later</b>"]
    events = [facts.push(flag="off").event]
    for number in range(4):
        event = e.TrackingEvent(event_id=f"m{number}", subject_id="s", platform=e.PLATFORM_IOS,
                                consent=e.CONSENT_OPTED_IN)
        event.in_app.message_id = "welcome"
        if number < 2:
            event.in_app.impression.SetInParent()
        else:
            event.in_app.click.action_text = buttons[number - 2]
            event.in_app.click.action_url = "https://example.com"
        events.append(event)
    run("sinks", "pause", "jsonl", "--data-dir", server.directory)
    with server.channel() as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events))
    server.wait_for_hits(4)
    for width in (390, 1280):
        with open_page(server.admin, width=width) as (page, complaints):
            page.wait_for_selector("#messages .mono")
            wait_until(lambda: "paused" in page.inner_text("#sinks"), "the pause to be shown")
            sinks = page.inner_text("#sinks")
            assert "paused" in sinks and "optional" in sinks and "sqlite" in sinks
            row = page.inner_text("#messages")
            assert "welcome" in row, row
            assert "100 %" in row
            assert "flag off 1" in page.inner_text("#verdicts")
            assert page.locator("#sink-plots svg").count() == 4
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert complaints == []
            # What a button says, a client sent: nobody without credentials sees it.
            assert not [button for button in buttons if button in page.inner_text("body")]
    assert not [button for button in buttons
                for path in ("stats.json", "metrics") if button.encode() in get(server, path)[1]]
    text = run("top", "--admin", server.admin.split("/")[2], "--once").stdout
    assert "paused, optional" in text and "welcome" in text and "flag off 1" in text, text


def test_the_page_says_what_is_not_read_yet_and_how_old_a_reading_is(make_server):
    """Without a finding, "nothing is wrong" is said of a fresh reading alone."""
    server = make_server().start()
    figures = statistics(server)
    with open_page(server.admin) as (page, _):
        page.wait_for_selector("#quality td")
        shown = {}
        for age in (None, 0, 7):
            stats = figures | {"ledger": figures["ledger"] | {"time": None}}
            if age is not None:
                stats["ledger"]["time"] = stats["time"] - age
            shown[age] = page.evaluate("(stats) => { show(stats); return $('quality').innerText; }",
                                       stats)
        assert shown == {None: "Not read yet.", 0: "Nothing is wrong with a delivery.",
                         7: "Nothing was wrong with a delivery 7 s ago."}


def test_a_finding_is_shown_within_seconds_of_its_events(make_server, seed):
    server = make_server().start()
    assert statistics(server)["quality"] == []
    with server.channel() as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(
            events=[Facts(seed, int(time.time())).push(flag="off").event]))
    wait_until(lambda: [row["code"] for row in statistics(server)["quality"]] == ["FLAG_OFF"],
               "the finding", 20)


def test_after_a_restart_the_page_shows_what_the_ledger_knows(make_server, loaded):
    def kept() -> list[int]:
        events = statistics(loaded)["ledger"]["events"]
        return [events[verdict] for verdict in ("accepted", "duplicate", "rejected")]
    wait_until(lambda: kept() == [4, 4, 2], "the ledger to be read")
    before = statistics(loaded)["ledger"]
    loaded.terminate()
    server = make_server(directory=loaded.directory).start()
    figures = statistics(server)
    assert figures["events"]["accepted"] == 0 and figures["rejections"] == []
    assert figures["ledger"] | {"time": 0} == before | {"time": 0}
    with open_page(server.admin) as (page, complaints):
        page.wait_for_selector("#rejections .mono")
        shown = {cell.get_attribute("data-kept"): cell.inner_text()
                 for cell in page.query_selector_all("[data-kept]")}
        assert (shown["accepted"], shown["duplicate"], shown["rejected"]) == ("4", "4", "2")
        assert "push.raw.json._dId" in page.inner_text("#rejections")
        assert "56c4" in page.inner_text("#deliveries")
        assert complaints == []


# A row of stats.json with the largest numbers, and with texts that look like markup.
LARGE = {name: 412_345 for of in ("impressions", "clicks", "opens", "dismissals", "sent")
         for name in (of, f"{of}_ios")} | {
    "tenant": "default", "delivery_id": "56c4", "is_in_app": False, "display_errors": 0,
    "name": "<b>Spring sale</b>", "attempted": 912_345, "undelivered": 87_655, "failed": 97_655,
    "skipped": 123_456, "click_ratio": 0.757, "open_ratio": 0.514, "delivered_rate": 0.9039,
    "open_rate": 0.453, "click_through_rate": 0.614,
    "failed_for": [{"reason": "throttled", "count": 90_000},
                   {"reason": "network", "count": 7_000}],
    "versions": [
        {"version": "<i>3.2</i>", "platform": "android", "differs": True, "sent": 50_000,
         "reports": 0, "refused": 0, "impressions": 0, "clicks": 0, "opens": 0},
        {"version": "3.1", "platform": "", "differs": False, "sent": 150_000,
         "reports": 120_000, "refused": 3, "impressions": 110_000, "clicks": 9, "opens": 8}]}
LINES = [
    "Failed for throttled 90,000, network 7,000, other reasons 655"
    " (10,000 of these were sent later)",
    "Version <i>3.2</i> on android: 50,000 sent, 0 reports, 0 refused, 0 impressions, 0 clicks,"
    " 0 opens" + "differs",
    "Version 3.1: 150,000 sent, 120,000 reports, 3 refused, 110,000 impressions, 9 clicks, 8 opens"]


@pytest.mark.parametrize("width", [390, 1280])
def test_a_delivery_has_its_name_its_reasons_and_its_versions(make_server, width):
    server = make_server().start()
    figures = statistics(server)
    figures["ledger"]["time"] = figures["time"]
    figures["deliveries"] = {"count": 1, "busiest": [LARGE], "put": [
        {"tenant": "default", "delivery_id": "77", "name": "Autumn", "sent": 4_100,
         "delivered": 4_055, "failed": 45}, {"tenant": "default", "delivery_id": "78"}]}
    figures["quality"] = [{"tenant": "default", "delivery_id": "56c4", "code": "FLAG_UNKNOWN",
                           "summary": "neither on nor off", "events": 412_345}]
    with open_page(server.admin, width=width) as (page, complaints):
        page.route("**/stats.json", lambda route: route.fulfill(json=figures))
        page.wait_for_selector("#deliveries .name")
        lines = [line.text_content().replace("\N{NO-BREAK SPACE}", " ")
                 for line in page.query_selector_all("#deliveries .line")]
        assert lines == LINES + 2 * ["Totals that were put; nothing was reported"]
        names = [name.text_content() for name in page.query_selector_all("#deliveries .name")]
        assert names == ["<b>Spring sale</b>", "Autumn"]
        shown = page.inner_text("#deliveries").replace("\N{NO-BREAK SPACE}", " ")
        for text in ("90.4 %", "87,655 undelivered", "97,655 failed", "98.9 %", "45 failed"):
            assert text in shown, shown
        assert "FLAG_UNKNOWN" in page.inner_text("#quality")
        assert "neither on nor off" in page.inner_text("#quality")
        # Nothing is cut off: the page is as wide as the screen, and below a row each line too.
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        place = "document.querySelector('.scroll[aria-labelledby=deliveries-title]')"
        if width == 1280:
            assert page.evaluate(f"{place}.scrollWidth <= {place}.clientWidth")
        # All at one moment: between two questions the page may draw its lines anew.
        ends = page.evaluate("[...document.querySelectorAll('#deliveries .line')]"
                             ".map(line => line.getBoundingClientRect().right)")
        assert ends and max(ends) <= width, ends
        assert complaints == []


@pytest.mark.parametrize("width, wide", [(390, True), (2000, False)])
def test_a_table_that_is_wider_than_the_page_says_so(loaded, width, wide):
    with open_page(loaded.admin, width=width) as (page, _):
        page.wait_for_selector("#deliveries .mono")
        table = ".scroll[aria-labelledby=deliveries-title]"
        is_hidden = f"document.querySelector('{table}').previousElementSibling.hidden"
        wait_until(lambda: page.evaluate(is_hidden) != wide, "the hint")
        sizes = """(place) => [place.scrollWidth > place.clientWidth,
                               place.previousElementSibling.hidden]"""
        for place in page.query_selector_all(".scroll"):
            is_wider, is_hidden = place.evaluate(sizes)
            assert is_wider != is_hidden


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_page_fits_a_phone(loaded, colours):
    with open_page(loaded.admin, width=390, colours=colours) as (page, complaints):
        page.wait_for_selector("#verdicts tr")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = sum(int(part) for part in background[4:-1].split(","))
        assert (brightness > 600) == (colours == "light")
        assert complaints == []


def test_the_page_says_that_the_server_is_gone_and_goes_on_when_it_is_back(make_server):
    server = make_server().start()
    with open_page(server.admin) as (page, _):
        wait_until(lambda: page.title().endswith("/s · Sightline"), "figures")
        server.terminate()
        wait_until(lambda: page.title().startswith("No answer"), "a page that says so", 20)
        assert page.inner_text("#state-text").startswith("No answer since")
        again = make_server("--admin", server.admin.split("/")[2], directory=server.directory)
        again.start()
        wait_until(lambda: page.title().endswith("/s · Sightline"), "figures again", 30)
        assert "restarted" in page.inner_text("#about")


def test_the_page_shows_text_as_text(make_server, payloads, tmp_path):
    server = make_server().start()
    payload = json.loads((payloads / "fcm-sent.json").read_text())
    data = payload.get("message", payload)["data"]
    data["_dId"], data["_mId"] = "a-b.c_d", "x" * 64
    file = tmp_path / "payload.json"
    file.write_text(json.dumps(payload))
    send(server, tmp_path, "android", "payload.json")
    server.wait_for_hits(1)
    with open_page(server.admin) as (page, complaints):
        page.wait_for_selector("#deliveries .mono")
        assert page.inner_text("#deliveries .mono") == "a-b.c_d"
        assert complaints == []


def shown_verdict(page, words: str) -> str:
    """The answer in the section for test events, once its first line is this one."""
    return wait_until(lambda: (text := page.inner_text("#send-answer")).startswith(words) and text,
                      f"the page to say {words}", 20)


@pytest.fixture
def tried(make_server):
    """A server as `serve --dev` starts it, with free ports."""
    server = make_server("--dev", "--http", "127.0.0.1:0").start()
    wait_until(lambda: b'id="send"' in get(server, "")[1], "the section for test events")
    return server


@pytest.mark.parametrize("width, colours", [(390, "dark"), (1280, "light")])
def test_the_page_explains_and_records_a_test_event(tried, payloads, width, colours):
    with open_page(tried.admin, width=width, colours=colours) as (page, complaints):
        page.fill("#send-payload", (payloads / "fcm-sent.json").read_text())
        page.select_option("#send-kind", "OPENED")
        page.select_option("#send-platform", "ANDROID")
        page.fill("#send-app", "o'clock")
        # By keyboard, as by the pointer: the buttons follow the fields.
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        explained = shown_verdict(page, "ACCEPTED explained, not recorded")
        for text in ("CLICK", "OPEN", "FLAG_ASSUMED_ON", "form: complete", "read inside `data`"):
            assert text in explained, explained
        assert statistics(tried)["events"]["accepted"] == 0
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert "CLICK" in shown_verdict(page, "ACCEPTED recorded")
        wait_until(lambda: statistics(tried)["events"]["accepted"] == 1, "the event to count")
        line = page.text_content("#send-curl")
        again = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
        result, = json.loads(again.stdout)["results"]
        assert result["verdict"] == "VERDICT_DUPLICATE" and f'"{result["eventId"]}"' in line
        page.click("#send-record")
        shown_verdict(page, "DUPLICATE recorded before")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert complaints == []


def test_the_page_says_what_is_wrong_with_a_test_event(tried, payloads):
    with open_page(tried.admin) as (page, complaints):
        page.select_option("#send-platform", "IOS")
        page.fill("#send-payload", (payloads / "apns-tester.json").read_text())
        page.click("#send-explain")
        shown = shown_verdict(page, "REJECTED explained, not recorded")
        assert "push.raw.json._dId REQUIRED" in shown and "push.raw.json._mId REQUIRED" in shown
        # What is no JSON gets a verdict too, and is text in whatever quotes it.
        for payload in ('{"_dId": "56c4", ', '<b id="markup">'):
            page.fill("#send-payload", payload)
            page.click("#send-explain")
            shown_verdict(page, "REJECTED explained")
            page.click("#send-record")
            assert "push.raw.json" in shown_verdict(page, "REJECTED not recorded")
        assert page.locator("#markup").count() == 0
        assert complaints == []
        tried.terminate()
        page.click("#send-explain")
        assert tried.http in shown_verdict(page, "No answer")


def preflight(server, origin: str) -> tuple[int, str | None]:
    """What the HTTP port says to a browser's question before a page of that origin sends."""
    connection = http.client.HTTPConnection(*server.http_address, timeout=10)
    connection.request("OPTIONS", "/v1/events", headers={
        "origin": origin, "access-control-request-method": "POST",
        "access-control-request-headers": "content-type"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.getheader("access-control-allow-origin")


def test_the_page_alone_may_send_and_only_where_the_server_is_tried(tried, make_server):
    def own_origins(server) -> tuple[str, str]:
        address = server.admin.rstrip("/")
        return address, f"http://localhost:{address.rsplit(':', 1)[1]}"

    for origin in own_origins(tried):
        assert preflight(tried, origin) == (204, origin)
    for origin in (tried.http.rstrip("/"), "http://localhost", "https://app.example", "null"):
        assert preflight(tried, origin) == (403, None)
    server = make_server("--http", "127.0.0.1:0").start()
    for origin in own_origins(server):
        assert preflight(server, origin)[1] is None
    with urllib.request.urlopen(server.admin, timeout=10) as answer:
        policy = answer.headers["content-security-policy"]
        assert "connect-src 'self';" in policy and server.http not in policy
        page = answer.read()
        assert b"v1/events" not in page and b'id="send"' not in page


def test_readyz_says_draining_while_the_server_drains(make_server):
    server = make_server().start()
    assert get(server, "readyz")[0] == 200
    with server.channel() as channel:
        # An open stream holds the drain until its grace is over.
        end = threading.Event()
        held = server.stub(channel).StreamEvents(iter(end.wait, True))
        next(held)
        server.process.terminate()

        def is_draining():
            status, body = get(server, "readyz")
            return status == 503 and b"draining" in body
        wait_until(is_draining, "readyz to say draining", 5, every=0.02)
        assert get(server, "healthz")[0] == 200
        end.set()
    assert server.wait(25, "to end after SIGTERM") == 0


def test_a_name_that_is_not_the_servers_is_refused(loaded):
    assert get(loaded, "stats.json", Host="evil.example")[0] == 421
    assert get(loaded, "stats.json", Host="localhost:1")[0] == 200


def test_a_header_beyond_the_limit_is_refused(make_server):
    server = make_server("--set", "admin.header_bytes=1024").start()
    assert get(server, "healthz", X="a" * 512)[0] == 200
    with pytest.raises((ConnectionError, http.client.HTTPException)) as raised:
        status, _ = get(server, "healthz", X="a" * 2048)
        raise http.client.HTTPException(str(status))
    assert "200" not in str(raised.value)


def test_a_connection_without_answers_is_closed(make_server):
    server = make_server("--set", "admin.answer_seconds=1").start()
    connection = http.client.HTTPConnection(server.admin.split("/")[2], timeout=10)
    connection.connect()
    connection.sock.sendall(b"GET /healthz HTT")
    assert connection.sock.recv(1) == b""


def test_one_connection_beyond_the_limit_waits_for_its_turn(make_server):
    server = make_server("--set", "admin.max_connections=1",
                         "--set", "admin.answer_seconds=2").start()
    first = http.client.HTTPConnection(server.admin.split("/")[2], timeout=10)
    first.request("GET", "/healthz")
    assert first.getresponse().read() == b"alive\n"
    second = http.client.HTTPConnection(server.admin.split("/")[2], timeout=0.5)
    second.request("GET", "/healthz")
    with pytest.raises(TimeoutError):
        second.getresponse()
    first.close()
    assert get(server, "healthz")[0] == 200


def test_a_port_in_use_is_exit_69(make_server, tmp_path):
    server = make_server().start()
    taken = server.admin.split("/")[2]
    answer = run("serve", "--listen", "127.0.0.1:0", "--admin", taken, "--data-dir", str(tmp_path))
    assert answer.returncode == 69
    assert f'admin.listen is "{taken}", but that cannot be bound' in answer.stderr
    # Whoever waits for "listening" would have been told that it has started.
    assert answer.stdout == ""


def test_health_is_asked_of_the_admin_server(loaded):
    address = loaded.admin.split("/")[2]
    answer = run("health", "--admin", address)
    assert (answer.returncode, answer.stdout) == (0, "SERVING\n"), answer.stderr
    answer = run("health", "--admin", address, "--service", "sightline.v1.TrackingService")
    assert answer.returncode == 64 and "--service" in answer.stderr


@pytest.mark.parametrize("status, code, output", [
    (200, 0, "SERVING\n"), (503, 69, "NOT_SERVING\n"), (404, 69, ""), (302, 69, "")])
def test_health_is_what_the_probe_answers(status, code, output):
    class Probe(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # pylint: disable=invalid-name
            self.send_response(status if self.path == "/readyz" else 500)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):  # pylint: disable=arguments-differ
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Probe) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        answer = run("health", "--admin", f"127.0.0.1:{server.server_port}")
        server.shutdown()
    assert (answer.returncode, answer.stdout) == (code, output), answer.stderr


def test_health_without_an_admin_server_is_exit_69():
    answer = run("health", "--admin", "127.0.0.1:1")
    assert answer.returncode == 69
    assert "127.0.0.1:1: " in answer.stderr and "--admin" in answer.stderr


def test_the_network_is_refused_until_a_key_allows_it(tmp_path):
    answer = run("serve", "--listen", "127.0.0.1:0", "--admin", "0.0.0.0:0", "--data-dir",
                 str(tmp_path))
    assert answer.returncode == 78
    assert '--admin: admin.listen is "0.0.0.0:0", but' in answer.stderr
    assert "admin.allow_insecure" in answer.stderr


def test_off_means_that_nothing_listens(make_server):
    server = make_server("--admin", "off").start()
    assert server.admin == "" and server.terminate() == 0


def test_top_shows_the_figures_once(loaded):
    answer = run("top", "--admin", loaded.admin.split("/")[2], "--once")
    assert answer.returncode == 0, answer.stderr
    assert "takes events" in answer.stdout and "56c4" in answer.stdout
    assert "push.raw.json._mId" in answer.stdout
    assert "\x1b" not in answer.stdout


def test_top_passes_the_document_on(loaded):
    answer = run("top", "--admin", loaded.admin.split("/")[2], "--once", "--json")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["events"] == statistics(loaded)["events"]
    assert answer.stdout.count("\n") == 1


def test_top_without_a_server_is_exit_69():
    answer = run("top", "--admin", "127.0.0.1:1", "--once")
    assert answer.returncode == 69
    assert "127.0.0.1:1" in answer.stderr


@pytest.mark.parametrize("arguments", [["--interval", "0"], ["--admin", "nowhere"]], ids=" ".join)
def test_wrong_usage_of_top_is_exit_64(arguments):
    assert run("top", *arguments).returncode == 64
