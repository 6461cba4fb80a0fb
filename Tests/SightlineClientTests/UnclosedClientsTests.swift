// The end of a process with clients that nobody has closed.
@testable internal import SightlineClient
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct UnclosedClientsTests {
    /// Longer than the suite's limit.
    private let patience: Duration = .seconds(3600)

    @Test("the end of a process waits for no client that nobody runs, and says so")
    func neverRan() async throws {
        let client = try SightlineClient(
            RunningClient.configuration(try ServerAddress("127.0.0.1:1")))
        _ = try await client.send(0..<2)
        await UnclosedClients.flush([client], patience: self.patience, startPatience: .zero)
        #expect(client.statistics.pendingCount == 2)
        #expect(client.loss == "2 events have no verdict, and are lost: run() was not called")
    }

    @Test("it waits for a client whose run begins late")
    func beginsLate() async throws {
        try await ScriptedServer().run { address in
            let client = try SightlineClient(RunningClient.configuration(address))
            _ = try await client.send(0..<2)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await UnclosedClients.flush(
                        [client], patience: self.patience, startPatience: self.patience)
                }
                group.addTask { try? await client.run() }
                defer { group.cancelAll() }
                // The run goes on until it is cancelled.
                try await group.next()
            }
            #expect(client.statistics.pendingCount == 0 && client.loss == nil)
        }
    }
}
