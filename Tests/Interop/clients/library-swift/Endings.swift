// Sends events and ends: --ending TARGET ENDING EVENTS SECONDS KEY [SPOOL]. KEY may be empty.
import Foundation
import SightlineClient
import SightlineProtos

/// What a program fails with.
struct ProgramFailure: Error, CustomStringConvertible {
    let description = "of the program"
}

/// A client that nobody closes, and that runs until the process ends, or never.
func openClient(_ configuration: ClientConfiguration, runs: Bool) throws -> SightlineClient {
    let client = try SightlineClient(configuration)
    if runs { Task.detached { try? await client.run() } }
    return client
}

/// Sends the events, and ends in the way that the arguments name.
///
/// - Returns: the client, if it is still open.
func end(_ words: [String]) async throws -> SightlineClient? {
    var configuration = ClientConfiguration(address: try ServerAddress(words[0]))
    if !words[4].isEmpty { configuration.credential = ClientCredential(words[4]) }
    if words.count > 5 { configuration.spool = SpoolConfiguration(directory: words[5]) }
    let made = (0..<(Int(words[2]) ?? 0)).map { event("00000000", $0) }
    if words[1] == "closed" || words[1] == "exception" {
        let seconds = Duration.seconds(Int(words[3]) ?? 0)
        try await SightlineClient.with(configuration, closeTimeout: seconds) { client in
            for event in made { try await client.send(event) }
            if words[1] == "exception" { throw ProgramFailure() }
        }
        return nil
    }
    let client = try openClient(configuration, runs: words[1] != "never run")
    for event in made { try await client.send(event) }
    if words[1] == "killed" {
        print("sent")
        fflush(nil)
        // Until it is killed, or whoever would do that is gone.
        _ = readLine()
    }
    return client
}
