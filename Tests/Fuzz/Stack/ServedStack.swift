// The server's whole stack on one thread: guard, frame joiner, edge, NIO's HTTP/2 handler,
// grpc-swift's handlers and the services, configured like a real server. Only sockets, TLS, the
// journal's disk and the sinks are missing.
internal import Foundation
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
@testable internal import HTTP2Edge
internal import Logging
internal import NIOCore
internal import NIOEmbedded
internal import Operations
internal import ServerConfiguration
@testable internal import TrackingJournal
internal import TrackingRules
@testable internal import TrackingServer

/// Serves connections one after the other. `@unchecked Sendable`: everything runs on one thread.
final class ServedStack: @unchecked Sendable {
    private static let sink = "discard"

    private let listener = MemoryListener()
    private let journal: Journal
    private let ingest: Ingest
    private let connections = OpenConnections()
    /// The previous connection, and what its client sent.
    private var last: (input: [UInt8], channel: WeakChannel)?
    /// The streams of the previous or the current connection.
    private var streams: [WeakChannel] = []
    private var delivered: Int64 = 0
    /// The journal's queue, which runs when the stack settles.
    private let queue = HeldQueue()

    /// Creates and starts the stack.
    init() throws {
        SerialTasks.takeOver()
        var machine = Machine.local
        machine.makeQueue = { [queue] _ in queue }
        var configuration = ServerConfiguration()
        configuration.journal.mode = .off
        configuration.journal.windowCapacity = 4096
        // All connections come from one address.
        configuration.connections.newPerSecond = .max
        configuration.maxHealthWatchers = 3
        configuration.edge.maxCompressedStreams = 3
        self.journal = try Journal(
            directory: "", sinks: [JournalSink(Self.sink)], configuration: configuration.journal,
            machine: machine
        ) { fatalError("the journal has failed: \($0)") }
        self.ingest = Ingest(
            admission: Admission(
                rules: RuleSet(policy: configuration.policy, limits: configuration.limits)),
            journal: self.journal,
            budget: MemoryBudget(
                hardBytes: configuration.bytesInFlight,
                softPercent: configuration.bytesInFlightSoftPercent),
            quotas: try TenantQuotas(configuration.quotas), metrics: ServerMetrics())
        try self.serve(configuration)
        self.settle()
    }

    private func serve(_ configuration: ServerConfiguration) throws {
        let journal = self.journal
        let board = HealthBoard(maxWatchers: configuration.maxHealthWatchers) { journal.isTaking }
        board.beginListening()
        var config = Application.transportConfig(
            configuration: configuration, ingest: self.ingest, connections: self.connections,
            logger: Logger(label: "stack", factory: { _ in SwiftLogNoOpLogHandler() }))
        let open = config.channelDebuggingCallbacks.onAcceptHTTP2Stream
        config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { (stream: any Channel) in
            self.streams.append(WeakChannel(channel: stream))
            return open?(stream) ?? stream.eventLoop.makeSucceededVoidFuture()
        }
        let transport = HTTP2ServerTransport.Custom(
            listenerFactory: self.listener,
            config: .init(
                compression: config.compression, connection: config.connection,
                http2: config.http2, rpc: config.rpc,
                channelDebuggingCallbacks: config.channelDebuggingCallbacks))
        let server = GRPCServer(
            transport: transport,
            services: try Application.services(
                configuration: configuration, ingest: self.ingest, board: board,
                subjects: NothingToErase(), deliveries: NothingToKeep()))
        Task.detached {
            do {
                try await server.serve()
            } catch {
                fatalError("serving has ended: \(error)")
            }
            fatalError("serving has ended")
        }
    }

    /// Serves one connection, and requires that nothing of the previous one is left. The
    /// transport's accept loop keeps the last connection.
    func serve(_ input: [UInt8]) throws {
        var channel = try self.connect()
        if !self.isReleased {
            // A timer may keep it until it fires, which ends the new connection too.
            self.pass(.hours(25))
            guard self.isReleased else { self.reportLast() }
            channel = try self.connect()
        }
        self.streams.removeAll(keepingCapacity: true)
        FrameProgram.run(input, on: ServedConnection(channel: channel, stack: self))
        channel._channelCore.close0(error: ChannelError.eof, mode: .all, promise: nil)
        self.settle()
        self.last = (input, WeakChannel(channel: channel))
    }

    /// Requires that nothing of the last connection is left.
    func finish() throws { try self.serve([]) }

    private func connect() throws -> EmbeddedChannel {
        let channel = try self.listener.connect()
        self.settle()
        guard channel.isActive else { fatalError("a connection is refused") }
        return channel
    }

    /// Whether only the newest connection is left.
    private var isReleased: Bool {
        self.last?.channel.channel == nil && self.liveStreams == 0 && self.connections.count <= 1
            && self.ingest.budget.bytesInFlight == 0 && self.ingest.budget.buffered.count == 0
    }

    private var liveStreams: Int { self.streams.count { $0.channel != nil } }

    private func reportLast() -> Never {
        fatalError(
            "memory stays: \(self.last?.channel.channel == nil ? 0 : 1) connections and "
                + "\(self.liveStreams) of \(self.streams.count) streams are not released, "
                + "\(self.connections.count) are open, "
                + "\(self.ingest.budget.bytesInFlight) bytes are counted as under way, and "
                + "\(self.ingest.budget.buffered.count) as waiting; "
                + "the input before this one, in base64: "
                + Data(self.last?.input ?? []).base64EncodedString())
    }

    /// Advances the time and runs everything that becomes due.
    func pass(_ time: TimeAmount) {
        self.listener.loop.advanceTime(by: time)
        self.settle()
    }

    /// Runs tasks, event loop and journal until nothing is left to do.
    func settle() {
        repeat {
            _ = SerialTasks.run()
            self.listener.loop.run()
            self.deliver()
            // Waits for the only other thread.
            DiagnosticCalls.queue.sync {}
        } while !SerialTasks.isIdle
    }

    /// Acts as the forwarder, on this thread.
    private func deliver() {
        self.queue.run()
        guard self.journal.lastSequence > self.delivered else { return }
        self.delivered = self.journal.lastSequence
        self.journal.advance(sink: Self.sink, to: self.delivered)
    }

    private struct WeakChannel {
        weak var channel: (any Channel)?
    }
}

/// A connection from its client's point of view.
struct ServedConnection {
    let channel: EmbeddedChannel
    let stack: ServedStack

    /// Sends bytes in a single read.
    func send(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, self.channel.isActive else { return }
        self.channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes))
        // A socket that closes during a read sends no channelReadComplete.
        if self.channel.isActive { self.channel.pipeline.fireChannelReadComplete() }
    }

    /// Starts or stops reading answers.
    func setReading(_ isReading: Bool) {
        guard self.channel.isWritable != isReading else { return }
        self.channel.isWritable = isReading
        self.channel.pipeline.fireChannelWritabilityChanged()
    }

    /// Begins to end the connection, as a shutdown does.
    func quiesce() {
        self.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
}

/// The stack writes no file, and its sink keeps nothing.
private struct NothingToErase: SubjectForgetting {
    func forget(_ id: String, of tenant: String) async throws -> ErasureReceipt {
        ErasureReceipt(places: [])
    }
}

private struct NothingToKeep: DeliveryTotalsStoring {
    func put(
        _ deliveries: [DeliveryTotals], of tenant: String, now: Int64
    ) async throws -> [Int] { [] }

    func totals(of delivery: String, tenant: String?) async throws -> [DeliveryTotals] { [] }

    func totals(ofAny deliveries: [String]) async throws -> [DeliveryTotals] { [] }

    func recentTotals(limit: Int) async throws -> [DeliveryTotals] { [] }
}
