internal import Synchronization
internal import TrackingJournal
internal import WireFormat

/// What tenants have put of deliveries, in memory; counts who asks.
final class PutTotals: DeliveryTotalsStoring {
    private let stored: [DeliveryTotals]
    private let isReadable: Bool
    private let count = Mutex(0)

    private struct Unreadable: Error {}

    init(_ stored: [DeliveryTotals] = [], isReadable: Bool = true) {
        (self.stored, self.isReadable) = (stored, isReadable)
    }

    var readings: Int { self.count.withLock { $0 } }

    func put(
        _ deliveries: [DeliveryTotals], of tenant: String, now: Int64
    ) async throws -> [Int] { [] }

    func totals(of delivery: String, tenant: String?) async throws -> [DeliveryTotals] {
        self.stored.filter {
            $0.delivery.equals(delivery) && tenant.map($0.tenant.equals) ?? true
        }
    }

    func totals(ofAny deliveries: [String]) async throws -> [DeliveryTotals] {
        self.count.withLock { $0 += 1 }
        guard self.isReadable else { throw Unreadable() }
        return self.stored.filter { totals in
            deliveries.contains { $0.equals(totals.delivery) }
        }
    }

    func recentTotals(limit: Int) async throws -> [DeliveryTotals] {
        guard self.isReadable else { throw Unreadable() }
        return Array(self.stored.prefix(limit))
    }
}
