// What is sent for a hit, and what an answer means.
internal import Foundation
internal import Testing

@testable internal import CampaignSink

struct PostbackTests {
    @Test(
        "D36: Standard's ids go as they came, with plain commas, and the subject is escaped",
        arguments: [
            ("h153d80", "b670ea", 7, "4711", "?id=h153d80,b670ea,7&mcId=4711"),
            ("h153d80", "b670ea", 1, "4711", "?id=h153d80,b670ea,1&mcId=4711"),
            ("h153d80", "b670ea", 2, "4711", "?id=h153d80,b670ea,2&mcId=4711"),
            ("138A", "x.y_z-1", 5, "a", "?id=138A,x.y_z-1,5&mcId=a"),
            ("h1", "2", 3, "a b&c=d,é/+%", "?id=h1,2,3&mcId=a%20b%26c%3Dd%2C%C3%A9%2F%2B%25"),
            ("h1", "2", 4, "A-z.0_9~\n", "?id=h1,2,4&mcId=A-z.0_9~%0A"),
        ])
    func standard(
        _ broadlog: String, _ delivery: String, _ action: Int, _ subject: String, _ query: String
    ) {
        #expect(
            Postback.standard(
                broadlog: broadlog, delivery: delivery, action: UInt32(action), subject: subject)
                == .query(query))
    }

    @Test(
        "D36: Standard gets nothing without a subject, either id, or an action",
        arguments: [("", "1", 1, "s"), ("1", "", 1, "s"), ("1", "1", 0, "s"), ("1", "1", 1, "")])
    func incomplete(
        _ broadlog: String, _ delivery: String, _ action: Int, _ subject: String
    ) {
        #expect(
            Postback.standard(
                broadlog: broadlog, delivery: delivery, action: UInt32(action), subject: subject)
                == .nothing)
    }

    private static let uuid = "6b6499a8-9d43-4bc5-acf0-b6aeb96846f6"

    @Test(
        "D37: Classic's id is a UUID as it is, or a decimal in hex as Android's client has it",
        arguments: [
            ("55336", "hd828"), ("12345", "h3039"), ("-673096100", "hd7e15e5c"), ("5", "h5"),
            ("0", "h0"), ("-0", "h0"), ("007", "h7"), ("-1", "hffffffff"),
            ("57904851586134", "h34aa061c0c56"), ("9223372036854775807", "h7fffffffffffffff"),
            ("2147483648", "h80000000"), ("-2147483648", "h80000000"),
            ("-2147483649", "hffffffff7fffffff"), ("-9223372036854775808", "h8000000000000000"),
            (Self.uuid, "h" + Self.uuid),
            ("6B6499A8-9D43-4BC5-ACF0-B6AEB96846F6", "h6B6499A8-9D43-4BC5-ACF0-B6AEB96846F6"),
        ])
    func classic(_ id: String, _ sent: String) {
        #expect(
            Postback.classic(broadlog: id, delivery: "56c4", tag: 2)
                == .query("?id=\(sent),56c4,2"))
    }

    @Test(
        "D37: any other id of Classic is not sent, and no reason names it",
        arguments: [
            "9223372036854775808", "-9223372036854775809", "1-1-1-1-1", "h138a", "d828", "1.5",
            "-", "--5", "1e3", "0x10", "6b6499a8-9d43-4bc5-acf0-b6aeb96846f", Self.uuid + "0",
            "6b6499a89d434bc5acf0b6aeb96846f6", "6b6499a8-9d43-4bc5-acf0-b6aeb96846fg",
            "6b6499a89-d43-4bc5-acf0-b6aeb96846f6",
        ])
    func notSent(_ id: String) {
        let postback = Postback.classic(broadlog: id, delivery: "56c4", tag: 1)
        guard case .refused(let reason) = postback else { Issue.record("\(postback)"); return }
        #expect(!reason.contains("56c4"))
        #expect(id == "-" || !reason.contains(id))
    }

    @Test(
        "Classic gets nothing without an id or a tag",
        arguments: [("", "1", 1), ("1", "", 1), ("1", "1", 0)])
    func classicIncomplete(_ broadlog: String, _ delivery: String, _ tag: Int) {
        let postback = Postback.classic(broadlog: broadlog, delivery: delivery, tag: UInt32(tag))
        #expect(postback == .nothing)
    }

    @Test("D38: 200 alone counts", arguments: Array(UInt(200)...599))
    func status(_ status: UInt) {
        let answer = PostbackAnswer(status: status, retryAfter: nil, now: .now)
        switch status {
        case 200: #expect(answer == .counted)
        case 408, 429, 500...: #expect(answer == .unavailable("status \(status)"))
        default:
            guard case .refused(let reason) = answer else { Issue.record("\(answer)"); return }
            #expect(reason.contains("status \(status)"))
            #expect(reason.contains("redirects are not followed") == (300..<400).contains(status))
        }
    }

    @Test(
        "a Retry-After is seconds or a date; anything else is none",
        arguments: [
            ("0", 0), ("7", 7), ("-3", 0), ("99999999999", 2_147_483_647),
            ("Thu, 01 Jan 1970 00:01:40 GMT", 40), ("Thu, 01 Jan 1970 00:00:10 GMT", 0),
            ("soon", nil), ("", nil), ("1.5", nil), ("Thu, 99 Jan 1970", nil),
        ] as [(String, Int?)])
    func retryAfter(_ text: String, _ seconds: Int?) {
        let now = Date(timeIntervalSince1970: 60)
        #expect(PostbackAnswer.wait(text, now: now) == seconds.map { .seconds($0) })
        let answer = PostbackAnswer(status: 503, retryAfter: text, now: now)
        #expect(
            answer == .unavailable("status 503", retryAfter: seconds.map { .seconds($0) }))
    }
}
