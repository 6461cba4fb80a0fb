@testable internal import HTTPDoor
internal import HTTPTypes
internal import SinkTestSupport
internal import TestSupport
internal import Testing

struct PostbackLogTests {
    @Test(
        "of each outcome one record in 10 s is written, with the number of all so far",
        arguments: [1, 10, 11])
    func sample(hosts: Int) {
        let (log, clock) = (KeptLog(), TestClock())
        let sample = PostbackLog(logger: log.logger, hosts: hosts, now: { clock.now })
        #expect(sample.interval == .seconds(max(10, hosts)))
        func records() -> [[String: String]] { log.metadata(of: "not a postback") }
        let request = DoorRequest(
            method: .get, path: "/r/", query: "id=h1,2,2&mcId=a-person", host: "a.example")
        for _ in 0..<5 { sample.note(request, .unreadable) }
        sample.note(request, .unknownHost)
        #expect(records().map { $0["reason"] } == ["unreadable", "unknown_host"])
        clock.advance(by: sample.interval - .nanoseconds(1))
        sample.note(request, .unreadable)
        #expect(records().count == 2)
        clock.advance(by: .nanoseconds(1))
        sample.note(request, .unreadable)
        #expect(records().map { $0["count"] } == ["1", "1", "7"])
    }

    @Test("whatever comes to one host, or to hosts without a row, another's records are written")
    func hosts() {
        let log = KeptLog()
        let sample = PostbackLog(logger: log.logger, hosts: 2)
        for (host, outcome) in [
            ("a.example", PostbackOutcome.unreadable), ("b.example", .unreadable),
            ("x.example", .unknownHost), ("y.example", .unknownHost), ("a.example", .throttled),
            ("a.example", .unreadable),
        ] {
            sample.note(DoorRequest(method: .get, path: "/r/", host: host), outcome)
        }
        let hosts = log.metadata(of: "not a postback").map { $0["host"] }
        #expect(hosts == ["a.example", "b.example", "x.example", "a.example"])
    }

    @Test("no record has a query or a path, and of a host's name 80 bytes at most")
    func names() throws {
        let log = KeptLog()
        let sample = PostbackLog(logger: log.logger, hosts: 1)
        let method = String(repeating: "M", count: PostbackLog.methodCharacters)
        let host = String(repeating: "h", count: PostbackLog.hostBytes)
        for outcome in PostbackOutcome.allCases {
            sample.note(
                DoorRequest(
                    method: try #require(HTTPRequest.Method(rawValue: method + "X")), path: "/r/",
                    query: "id=h138a,56c4,2&mcId=a-person",
                    host: host + "x"), outcome)
        }
        let records = log.metadata(of: "not a postback")
        #expect(records.count == PostbackOutcome.allCases.count)
        for record in records {
            #expect(record["host"] == host && record["method"] == method)
            #expect(!record.values.contains { $0.contains("a-person") || $0.contains("138a") })
        }
    }
}
