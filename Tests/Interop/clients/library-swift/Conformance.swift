// The client library for Swift for `sightline-conformance client`: docs/clients/conformance.md says
// what a program for it does.
import Foundation
import SightlineClient
import SightlineProtos

/// Sends the events of standard input; returns the exit code.
func conform() async throws -> Int32 {
    let environment = ProcessInfo.processInfo.environment
    let address = try ServerAddress(environment["SIGHTLINE_TARGET"] ?? "")
    var configuration = ClientConfiguration(address: address)
    configuration.credential = environment["SIGHTLINE_TOKEN"].map { ClientCredential($0) }
    configuration.collectsResults = true
    let client = try SightlineClient(configuration)
    async let running: Void = client.run()
    async let told: Void = {
        for await settled in client.results {
            let line = try settled.result.jsonString() + "\n"
            FileHandle.standardOutput.write(Data(line.utf8))
        }
    }()
    var refused: [String] = []
    while let line = readLine() {
        let event = try Sightline_V1_TrackingEvent(jsonString: line)
        do {
            try await client.send(event)
        } catch is SightlineClientError {
            refused.append(event.eventID)
        }
    }
    do {
        try await client.close(timeout: .seconds(86400))
        try await running
    } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
    }
    try await told
    let left = client.unacknowledged().map(\.eventID) + refused
    guard !left.isEmpty else { return 0 }
    try tell(["unacknowledged": left])
    return 1
}
