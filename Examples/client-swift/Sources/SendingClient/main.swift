// Sends a thousand events, and prints how they were judged.
import SightlineClient
import SightlineProtos
let target = CommandLine.arguments.dropFirst().first ?? "127.0.0.1:50051"
let client = try SightlineClient(target: target)
async let running: Void = client.run()
for number in 0..<1000 {
    var event = Sightline_V1_TrackingEvent()
    (event.eventID, event.appID) = ("\(number)", "shop")
    event.trackAction.deliveryID = "1f"
    event.trackAction.broadlogID = "h" + String(number, radix: 16)
    event.trackAction.action = .open
    try await client.send(event)
}
print(try await client.close(), client.statistics.verdicts)
try await running
