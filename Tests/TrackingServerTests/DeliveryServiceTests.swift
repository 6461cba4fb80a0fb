// PutDeliveries as a foreign client sees it: what is stored, and what is rejected alone.
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import ServerConfiguration
internal import ServerTestSupport
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingJournal

@Suite(.timeLimit(.minutes(10)))
struct DeliveryServiceTests {
    private typealias Totals = Sightline_V1_DeliveryTotals
    private typealias Method = Sightline_V1_DeliveryService.Method

    private static func put(
        _ deliveries: [Totals], to client: WireClient
    ) async throws -> WireClient.Outcome<Sightline_V1_PutDeliveriesResponse> {
        let request = Sightline_V1_PutDeliveriesRequest.with { $0.deliveries = deliveries }
        return try await client.call(
            Method.PutDeliveries.descriptor, [try request.serializedBytes()],
            as: Sightline_V1_PutDeliveriesResponse.self)
    }

    private static func totals(
        _ id: String, _ change: (inout Totals) -> Void = { _ in }
    ) -> Totals {
        .with {
            $0.deliveryID = id
            change(&$0)
        }
    }

    private static func platform(
        _ platform: Sightline_V1_Platform, sent: UInt64 = 1
    ) -> Sightline_V1_PlatformTotals {
        .with {
            $0.platform = platform
            $0.sent = sent
        }
    }

    /// A delivery that breaks a rule, or is just within it, and what it is told: the field, and the code's number.
    private static let rows: [(Totals, [String])] = [
        (totals(""), ["delivery_id 1"]),
        (totals(String(repeating: "i", count: 256)), []),
        (totals(String(repeating: "i", count: 257)), ["delivery_id 4"]),
        (totals("1") { $0.name = String(repeating: "n", count: 256) }, []),
        (totals("2") { $0.name = String(repeating: "n", count: 257) }, ["name 4"]),
        (totals("3") { $0.product = .classic }, []),
        (totals("4") { $0.product = .UNRECOGNIZED(3) }, ["product 3"]),
        (totals("5") { $0.sentAt.seconds = 253_402_300_799 }, []),
        (totals("6") { $0.sentAt.seconds = 253_402_300_800 }, ["sent_at 3"]),
        (totals("7") { $0.sentAt.seconds = -1 }, ["sent_at 3"]),
        (totals("8") { $0.sentAt.nanos = 1_000_000_000 }, ["sent_at 3"]),
        (totals("9") { $0.platforms = [platform(.unspecified), platform(.ios)] }, []),
        (
            totals("10") { $0.platforms = [platform(.ios), platform(.ios)] },
            ["platforms[1].platform 5"]
        ),
        (
            totals("11") { $0.platforms = [platform(.UNRECOGNIZED(9))] },
            ["platforms[0].platform 3"]
        ),
        (totals("12") { $0.platforms = [platform(.ios, sent: 1_000_000_000_000)] }, []),
        (
            totals("13") { $0.platforms = [platform(.ios, sent: 1_000_000_000_001)] },
            ["platforms[0].sent 3"]
        ),
        (totals("1"), ["delivery_id 5"]),
    ]

    @Test("a wrong delivery is rejected alone, with the rules that it breaks; others are stored")
    func rejected() async throws {
        try await RunningServer.with { server in
            try await WireClient.with(server) { client in
                let outcome = try await Self.put(Self.rows.map(\.0), to: client)
                let answer = try #require(outcome.answers.first)
                #expect(answer.storedCount == Self.rows.count { $0.1.isEmpty })
                let told = Dictionary(
                    uniqueKeysWithValues: answer.rejected.map { rejected in
                        (
                            Int(rejected.index),
                            rejected.violations.map { "\($0.field) \($0.code.rawValue)" }
                        )
                    })
                for (index, row) in Self.rows.enumerated() {
                    #expect(told[index] ?? [] == row.1, "\(index)")
                }
            }
        }
    }

    @Test("a delivery for which the tenant has no room is rejected by its index")
    func full() async throws {
        try await RunningServer.with { configuration in
            configuration.deliveries.maxRows = 2
        } _: { server in
            try await WireClient.with(server) { client in
                let batch = ["1", "", "2", "3"].map { Self.totals($0) }
                let answer = try #require(try await Self.put(batch, to: client).answers.first)
                #expect(answer.storedCount == 2)
                #expect(answer.rejected.map(\.index) == [1, 3])
                let violation = try #require(answer.rejected.last?.violations.first)
                #expect(violation.field == "deliveries" && violation.code == .tooLarge)
                #expect(violation.description_p.contains("deliveries.max_rows"))
            }
        }
    }

    @Test("each delivery counts as one event of the quota, and the call after it is refused")
    func quota() async throws {
        try await RunningServer.with { configuration in
            configuration.quotas.standard.eventsPerSecond = 1
        } _: { server in
            try await WireClient.with(server) { client in
                let batch = (1...1000).map { Self.totals("\($0)") }
                let first = try await Self.put(batch, to: client)
                #expect(first.answers.first?.storedCount == 1000)
                let second = try await Self.put(batch, to: client)
                #expect(second.error?.code == .resourceExhausted)
            }
        }
    }
}
