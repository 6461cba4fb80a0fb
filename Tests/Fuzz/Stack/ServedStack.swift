// The server's whole stack in one thread's memory: guard, joined frames, edge, NIO's HTTP/2
// handler, grpc-swift's own handlers and the services behind them, with the configuration of a
// real server. Only sockets, TLS, the journal's disk and the sinks are missing.
internal import Foundation
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import Logging
internal import NIOCore
internal import NIOEmbedded
internal import ServerConfiguration
internal import TrackingCore

@testable internal import HTTP2Edge
@testable internal import TrackingJournal
@testable internal import TrackingServer

/// Serves connections one after the other. `@unchecked Sendable`: everything happens on one thread.
final class ServedStack: @unchecked Sendable {
    private static let sink = "discard"

    private let listener = MemoryListener()
    private let journal: Journal
    private let ingest: Ingest
    private let connections = OpenConnections()
    /// The connection that was served last, and what its client sent.
    private var last: (input: [UInt8], channel: WeakChannel)?
    /// Its streams, or those of the connection that is served now.
    private var streams: [WeakChannel] = []
    private var delivered: Int64 = 0
    /// The journal's, which runs when the stack settles.
    private let queue = HeldQueue()

    /// A stack that serves.
    init() throws {
        SerialTasks.takeOver()
        var machine = Machine.local
        machine.makeQueue = { [queue] _ in queue }
        var configuration = ServerConfiguration()
        configuration.journal.mode = .off
        configuration.journal.windowCapacity = 4096
        // All connections come from one address, one after the other.
        configuration.connections.newPerSecond = .max
        configuration.maxHealthWatchers = 3
        configuration.edge.maxCompressedStreams = 3
        self.journal = try Journal(
            directory: "", sinks: [Self.sink], configuration: configuration.journal,
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
            configuration, self.ingest, self.connections,
            Logger(label: "stack", factory: { _ in SwiftLogNoOpLogHandler() }))
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
            services: try Application.services(configuration, self.ingest, board))
        Task.detached {
            do {
                try await server.serve()
            } catch {
                fatalError("serving has ended: \(error)")
            }
            fatalError("serving has ended")
        }
    }

    /// Serves one connection until its client goes, and demands that nothing of the one before
    /// stays: the transport's loop of accepted connections keeps hold of the last one.
    func serve(_ input: [UInt8]) throws {
        var channel = try self.connect()
        if !self.isReleased {
            // What a timer holds may stay until it fires, and it ends the new connection too.
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

    /// Demands that nothing of the last connection stays.
    func finish() throws { try self.serve([]) }

    private func connect() throws -> EmbeddedChannel {
        let channel = try self.listener.connect()
        self.settle()
        guard channel.isActive else { fatalError("a connection is refused") }
        return channel
    }

    /// Whether nothing is left but the connection that has just been made.
    private var isReleased: Bool {
        self.last?.channel.channel == nil && self.liveStreams == 0 && self.connections.count <= 1
            && self.ingest.budget.bytesInFlight == 0 && self.ingest.budget.waiting.count == 0
    }

    private var liveStreams: Int { self.streams.count { $0.channel != nil } }

    private func reportLast() -> Never {
        fatalError(
            "memory stays: \(self.last?.channel.channel == nil ? 0 : 1) connections and "
                + "\(self.liveStreams) of \(self.streams.count) streams are not released, "
                + "\(self.connections.count) are open, "
                + "\(self.ingest.budget.bytesInFlight) bytes are counted as under way, and "
                + "\(self.ingest.budget.waiting.count) as waiting; "
                + "the input before this one, in base64: "
                + Data(self.last?.input ?? []).base64EncodedString())
    }

    /// Lets time go by, and all that it leads to happen.
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
            // Waits for the one thread that is not this one.
            SideCalls.queue.sync {}
        } while !SerialTasks.isIdle
    }

    /// Stands in for a forwarder, on this thread.
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

/// One connection, as its client sees it.
struct ServedConnection {
    let channel: EmbeddedChannel
    let stack: ServedStack

    /// Sends bytes in one piece.
    func send(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, self.channel.isActive else { return }
        self.channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes))
        // A socket that is closed in the middle of a read does not end it.
        if self.channel.isActive { self.channel.pipeline.fireChannelReadComplete() }
    }

    /// Reads answers, or no longer does.
    func setReading(_ isReading: Bool) {
        guard self.channel.isWritable != isReading else { return }
        self.channel.isWritable = isReading
        self.channel.pipeline.fireChannelWritabilityChanged()
    }

    /// The server begins to end it, as in a shutdown.
    func quiesce() {
        self.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
}
