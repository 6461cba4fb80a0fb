internal import Foundation
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
package import SightlineClient

/// The result of a run, apart from the answers.
package struct BenchSummary: Sendable {
    /// The time from the first request to the last ack.
    package let elapsed: Duration
    /// The number of requests sent; all were acknowledged.
    package let sentRequests: Int
    /// The number of events in them.
    package let sentEvents: Int
    /// The number of requests that an open loop should have sent by the end but did not, because
    /// the server or this machine did not keep up.
    package let unsentRequests: Int
}

/// The load generator: sends new events over many connections and streams, as fast as acks arrive
/// (closed loop) or at a fixed rate (open loop).
package struct Bench: Sendable {
    /// How long to wait for an ack, or for streams to open.
    private static let patience: Duration = .seconds(30)
    private static let watchInterval: Duration = .milliseconds(100)

    private let address: ServerAddress
    private let plan: BenchPlan
    private let security: ClientSecurity
    private let credential: ClientCredential?

    /// Creates a run of `plan`. Every connection uses `security`, every stream `credential`.
    package init(
        address: ServerAddress, plan: BenchPlan, security: ClientSecurity = ClientSecurity(),
        credential: ClientCredential? = nil
    ) {
        self.address = address
        self.plan = plan
        self.security = security
        self.credential = credential
    }

    /// Runs from the first connection to the last ack. Calls `onAnswer` for every answer on a
    /// stream's task: return at once.
    ///
    /// - Throws: `BenchPlanError`, `TrackingClientError`, `SightlineClientError`.
    package func run(
        onAnswer: @escaping @Sendable (BenchAnswer) -> Void
    ) async throws -> BenchSummary {
        try self.plan.validate()
        let requests = try self.makeRequests()
        let progress = BenchProgress(self.plan)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<self.plan.connections {
                group.addTask {
                    try await self.connect(progress, requests, onAnswer)
                    return true
                }
            }
            group.addTask {
                try await self.watch(progress)
                return false
            }
            for _ in 0..<self.plan.connections { _ = try await group.next() }
            group.cancelAll()
        }
        let sent = progress.sent
        let due = progress.schedule.dueCount(by: progress.elapsed) ?? sent.requests
        return BenchSummary(
            elapsed: progress.elapsed, sentRequests: sent.requests, sentEvents: sent.events,
            unsentRequests: max(0, due - sent.requests))
    }

    /// The wall clock in seconds since 1970.
    static func now() -> Int64 { Int64(Date().timeIntervalSince1970) }

    private func makeRequests() throws -> [BenchRequest] {
        let now = Self.now()
        return try (0..<self.plan.requestCount).map { number in
            try BenchRequest(
                self.plan, count: self.plan.batch, place: number * self.plan.batch, seconds: now)
        }
    }

    /// Runs one connection with its streams.
    private func connect(
        _ progress: BenchProgress, _ requests: [BenchRequest],
        _ onAnswer: @escaping @Sendable (BenchAnswer) -> Void
    ) async throws {
        let target = self.address.description
        try await withGRPCClient(transport: self.security.transport(to: self.address)) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<self.plan.streams {
                    let stream = BenchStream(
                        self.plan, progress, requests: requests, target: target,
                        onAnswer: onAnswer)
                    group.addTask {
                        try await stream.run(over: client, credential: self.credential)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Fails the run if the server makes no progress.
    private func watch(_ progress: BenchProgress) async throws {
        while true {
            try await Task.sleep(for: Self.watchInterval)
            guard progress.stalled(at: .now) >= Self.patience else { continue }
            throw TrackingClientError.gaveUp(
                target: self.address.description, unsettled: progress.underWay * self.plan.batch,
                seconds: Self.patience / .seconds(1), lastFailure: nil)
        }
    }
}
