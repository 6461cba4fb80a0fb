@testable internal import HTTPDoor
internal import HTTPTypes
internal import SinkTestSupport
internal import TestSupport
internal import Testing

struct PostbackLogTests {
    @Test("of each outcome one record in 10 s is written, with the number of all so far")
    func sample() {
        let (log, clock) = (KeptLog(), TestClock())
        let sample = PostbackLog(logger: log.logger, now: { clock.now })
        func records() -> [[String: String]] { log.metadata(of: "not a postback") }
        let request = DoorRequest(
            method: .get, path: "/r/", query: "id=h1,2,2&mcId=a-person", host: "a.example")
        for _ in 0..<5 { sample.note(request, .unreadable) }
        sample.note(request, .unknownHost)
        #expect(records().map { $0["reason"] } == ["unreadable", "unknown_host"])
        clock.advance(by: PostbackLog.interval - .nanoseconds(1))
        sample.note(request, .unreadable)
        #expect(records().count == 2)
        clock.advance(by: .nanoseconds(1))
        sample.note(request, .unreadable)
        #expect(records().map { $0["count"] } == ["1", "1", "7"])
    }

    @Test("no record has a query or a path, and of a host's name 80 bytes at most")
    func names() {
        let log = KeptLog()
        let sample = PostbackLog(logger: log.logger)
        let host = String(repeating: "h", count: PostbackLog.hostBytes)
        for outcome in PostbackOutcome.allCases {
            sample.note(
                DoorRequest(
                    method: .get, path: "/r/", query: "id=h138a,56c4,2&mcId=a-person",
                    host: host + "x"), outcome)
        }
        let records = log.metadata(of: "not a postback")
        #expect(records.count == PostbackOutcome.allCases.count)
        for record in records {
            #expect(record["host"] == host)
            #expect(!record.values.contains { $0.contains("a-person") || $0.contains("138a") })
        }
    }
}
