// The published vectors of docs/vectors/postback-urls.json backwards, and those of
// docs/vectors/postback-requests.json.
internal import Credentials
internal import Foundation
@testable internal import HTTPDoor
internal import NIOCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules

struct ReceivedPostbackTests {
    /// A hit, and what the SDK asks for.
    private struct Sent: Decodable {
        let product: String
        let broadlog_id: String
        let delivery_id: String
        let action: UInt8
        let subject_id: String
        let request: String?
    }

    private static func product(_ name: String) -> Product {
        name == "classic" ? .classic : .standard
    }

    private static func query(_ request: String) -> String {
        String(request.dropFirst("/r/?".count))
    }

    /// Ids of Classic that the SDK sends in another form than the payload has: the low 32 bits of
    /// negative numbers, and a number with leading zeros.
    private static let changed = [
        "-673096100": "3621871196", "-1": "4294967295", "-2147483648": "2147483648", "007": "7",
    ]

    @Test("D67, D68: what the sink campaign asks for is read as the hit that it was made of")
    func backwards() throws {
        let rows = try JSONDecoder().decode([Sent].self, from: try Vectors.data("postback-urls"))
        var (read, changed) = (0, 0)
        for row in rows {
            guard let request = row.request else { continue }
            let product = Self.product(row.product)
            let postback = try ReceivedPostback(Self.query(request), product: product)
            let other = product == .classic ? Self.changed[row.broadlog_id] : nil
            #expect(postback.broadlogID == Array((other ?? row.broadlog_id).utf8), "\(row)")
            #expect(postback.deliveryID == Array(row.delivery_id.utf8), "\(row)")
            #expect(
                postback.action == row.action && postback.subjectID == Array(row.subject_id.utf8))
            read += 1
            if other != nil { changed += 1 }
        }
        #expect(read > 40 && changed == 2 * Self.changed.count, "\(read) read, \(changed) changed")
    }

    @Test("D67, D68, D70: each published request has its event, or is no postback")
    func requests() throws {
        let data = try Vectors.data("postback-requests")
        let rows = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        var (events, others) = (0, 0)
        for row in rows {
            let request = try #require(row["request"] as? String)
            let product = Self.product(try #require(row["product"] as? String))
            let agent = try #require(row["user_agent"] as? String)
            let found: [Sightline_V1_TrackingEvent] = try Self.events(
                Self.query(request), product, agent)
            if let event = row["event"] as? [String: Any] {
                let json = try JSONSerialization.data(withJSONObject: event)
                let expected = try Sightline_V1_TrackingEvent(jsonUTF8Data: json)
                #expect(found == [expected], "\(request) by \(agent)")
                events += 1
            } else {
                #expect(found.isEmpty, "\(request)")
                others += 1
            }
        }
        #expect(events > 40 && others > 40, "\(events) events, \(others) others")
    }

    private static func events(
        _ query: String, _ product: Product, _ agent: String
    ) throws -> [Sightline_V1_TrackingEvent] {
        let postback: ReceivedPostback
        do throws(ReceivedPostback.Refusal) {
            postback = try ReceivedPostback(query, product: product)
        } catch {
            return []
        }
        let message = postback.request(
            of: PostbackHost(tenant: .standard, product: product),
            platform: Platform(userAgent: agent))
        return try Sightline_V1_RecordEventsRequest(
            serializedBytes: Array(message.readableBytesView)
        ).events
    }

    @Test("the row's app is the event's")
    func app() throws {
        let postback = try ReceivedPostback("id=h1,2,2&mcId=3", product: .standard)
        let message = postback.request(
            of: PostbackHost(tenant: .standard, app: "com.example.shop", product: .standard),
            platform: nil)
        let request = try Sightline_V1_RecordEventsRequest(
            serializedBytes: Array(message.readableBytesView))
        #expect(request.events.map(\.appID) == ["com.example.shop"])
        #expect(request.events.map(\.hasOccurTime) == [false])
    }

    @Test("a postback of Standard on Classic's host is told apart from what is none")
    func otherProduct() {
        for (query, refusal) in [
            ("id=hd828,56c4,1&mcId=4711", ReceivedPostback.Refusal.otherProduct),
            ("id=hd828,56c4,1&p1=x", .unreadable), ("id=hd828,56c4", .unreadable),
        ] {
            #expect(throws: refusal) { try ReceivedPostback(query, product: .classic) }
        }
    }

    @Test("a query has 2,048 bytes, and not one more")
    func size() throws {
        let query = "id=h1,2,2&mcId="
        let most = String(repeating: "4", count: ReceivedPostback.maxQueryBytes - query.utf8.count)
        #expect(
            try ReceivedPostback(query + most, product: .standard).subjectID.count == most.count)
        #expect(throws: ReceivedPostback.Refusal.unreadable) {
            try ReceivedPostback(query + most + "4", product: .standard)
        }
    }
}
