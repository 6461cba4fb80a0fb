// A raw payload, by the lines of docs/clients/swift.md.
import Foundation
import SightlineClient
import SightlineProtos

/// Sends a payload as an app got it.
func send(
    _ payload: Data, of platform: Sightline_V1_Platform, by client: SightlineClient
) async throws -> Ticket {
    var event = Sightline_V1_TrackingEvent.with { ($0.eventID, $0.platform) = ("1", platform) }
    event.push = .with { ($0.kind, $0.raw.json) = (.opened, payload) }
    return try await client.send(event)
}
