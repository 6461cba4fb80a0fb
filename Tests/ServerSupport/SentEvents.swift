// The client library as the tests of the server use it.
package import SightlineClient
package import SightlineProtos

extension SightlineClient {
    /// Sends events; returns their results in the same order.
    @discardableResult
    package static func send(
        _ events: [Sightline_V1_TrackingEvent], to address: ServerAddress,
        credential: ClientCredential? = nil
    ) async throws -> [Sightline_V1_EventResult] {
        var configuration = ClientConfiguration(address: address)
        configuration.credential = credential
        configuration.reportsAccepted = true
        // What is sent again to a server that is slow on a busy machine would be a duplicate.
        configuration.answerTimeout = .seconds(300)
        let client = try SightlineClient(configuration)
        async let running: Void = client.run()
        var tickets: [Ticket] = []
        for event in events { tickets.append(try await client.send(event)) }
        try await client.close(timeout: .seconds(300))
        try await running
        var results: [Sightline_V1_EventResult] = []
        for ticket in tickets { results.append(try await ticket.result) }
        return results
    }
}
