internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization
internal import TrackingReport
internal import WireFormat

/// Prints the responses of a tap in order.
final class TapPrinter: Sendable {
    private let json: Bool
    private let hasHeading = Mutex(false)

    private static let columns = ["received", "verdict", "tenant", "app", "delivery", "why"]

    init(json: Bool) { self.json = json }

    func show(_ response: Sightline_V1_TapResponse) throws {
        for event in response.events where self.json {
            var options = JSONEncodingOptions()
            options.preserveProtoFieldNames = true
            Console.out(try event.jsonString(options: options))
        }
        if !self.json { self.showTable(response.events) }
        if response.missedEvents > 0 {
            Console.error(
                "\(response.missedEvents) events are missing here: there were too many at once")
        }
    }

    private func showTable(_ events: [Sightline_V1_TappedEvent]) {
        guard !events.isEmpty else { return }
        let isFirst = self.hasHeading.withLock { hasHeading in
            defer { hasHeading = true }
            return !hasHeading
        }
        var table = TextTable(Self.columns.map { (isFirst ? $0 : "", .left) })
        for event in events { table.add(Self.cells(of: event)) }
        for line in table.lines() { Console.out(line) }
        for event in events where event.hasEvent {
            // The text is for people, so an event that cannot be written as JSON is left out.
            if let text = try? event.event.jsonString() { Console.out("  " + text.printable) }
        }
    }

    private static func cells(of event: Sightline_V1_TappedEvent) -> [String] {
        let time = event.receiveTime
        let why =
            event.violations.map { violation in
                [violation.code.name, violation.field, violation.description_p]
                    .filter { !$0.isEmpty }.joined(separator: " ")
            } + event.hits.map(\.name) + event.warnings.map(\.name)
        return [
            RowTime.local(time.seconds * 1_000_000 + Int64(time.nanos / 1000)),
            event.verdict.name, event.tenant, event.appID, event.deliveryID,
            why.joined(separator: ", "),
        ]
    }
}
