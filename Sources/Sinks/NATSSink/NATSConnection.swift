#if NATS
// One connection to the servers, with the library's settings for never giving up on its own.
internal import CNats
internal import Foundation

/// A connection and its JetStream context. Used on the sink's queue alone.
final class NATSConnection {
    /// What is under way on it.
    let acks: AckWindow
    private let configuration: NATSConfiguration
    private let connection: OpaquePointer
    /// The JetStream context.
    let jetStream: OpaquePointer
    private let statistics: OpaquePointer

    /// Connects to the first server that answers; waits 2 s for each.
    ///
    /// - Throws: `NATSError` if none answers, or a file is unusable.
    init(_ configuration: NATSConfiguration) throws {
        self.configuration = configuration
        self.acks = AckWindow()
        let options = try NATSOptions(configuration)
        var connection: OpaquePointer?
        try NATSError.check(
            "cannot connect to \(configuration.servers.joined(separator: ", "))",
            natsConnection_Connect(&connection, options.pointer))
        guard let connection else { throw NATSError("natsConnection_Connect: no connection") }
        do {
            self.jetStream = try Self.context(connection, configuration, self.acks)
            var statistics: OpaquePointer?
            try NATSError.check("natsStatistics_Create", natsStatistics_Create(&statistics))
            guard let statistics else { throw NATSError("natsStatistics_Create: nothing") }
            self.statistics = statistics
            self.connection = connection
        } catch {
            natsConnection_Destroy(connection)
            throw error
        }
    }

    deinit {
        natsStatistics_Destroy(self.statistics)
        natsConnection_Close(self.connection)
        jsCtx_Destroy(self.jetStream)
        natsConnection_Destroy(self.connection)
    }

    private static func context(
        _ connection: OpaquePointer, _ configuration: NATSConfiguration, _ acks: AckWindow
    ) throws -> OpaquePointer {
        var options = jsOptions()
        jsOptions_Init(&options)
        options.Wait = configuration.ackTimeout.milliseconds
        // A publish beyond this would block; the sink waits long before.
        options.PublishAsync.MaxPending = Int64(configuration.maxInFlight) * 2
        options.PublishAsync.AckHandler = takeNATSAck
        // Never released: a thread of the library may still run the callback after the
        // connection is destroyed. It leaks about 100 bytes per new connection.
        options.PublishAsync.AckHandlerClosure = Unmanaged.passRetained(acks).toOpaque()
        var context: OpaquePointer?
        try NATSError.check(
            "JetStream", natsConnection_JetStream(&context, connection, &options))
        guard let context else { throw NATSError("natsConnection_JetStream: no context") }
        return context
    }

    /// Whether a server is connected now; the library reconnects by itself.
    var isConnected: Bool {
        natsConnection_Status(self.connection) == NATS_CONN_STATUS_CONNECTED
    }

    /// Whether the library has given up, for instance after a credential was refused twice.
    var isClosed: Bool { natsConnection_IsClosed(self.connection) }

    /// Why the library last lost its connection.
    var lastError: String {
        var text: UnsafePointer<CChar>?
        let status = natsConnection_GetLastError(self.connection, &text)
        let detail = text.map { String(cString: $0) } ?? ""
        return detail.isEmpty ? String(cString: natsStatus_GetText(status)) : detail
    }

    /// The number of reconnects.
    var reconnects: UInt64 {
        var reconnects: UInt64 = 0
        guard natsConnection_GetStats(self.connection, self.statistics) == NATS_OK,
            natsStatistics_GetCounts(self.statistics, nil, nil, nil, nil, &reconnects)
                == NATS_OK
        else { return 0 }
        return reconnects
    }

    /// Publishes a message and counts it, without waiting for the ack. Takes ownership of the
    /// message: the library or this method destroys it.
    func publish(_ message: OpaquePointer, hitID: UnsafePointer<CChar>?) -> natsStatus {
        var options = jsPubOptions()
        options.MaxWait = self.configuration.ackTimeout.milliseconds
        options.MsgId = hitID
        var handed: OpaquePointer? = message
        self.acks.add()
        let status = js_PublishMsgAsync(self.jetStream, &handed, &options)
        if status != NATS_OK {
            self.acks.remove()
            natsMsg_Destroy(handed)
        }
        return status
    }
}

extension Duration {
    /// The duration in milliseconds, at least 1.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
#endif
