internal import HTTP2Edge
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOHTTPTypesHTTP2
internal import NIOSSL

/// What all connections of the HTTP port share, and the handlers of each.
struct DoorPort: Sendable {
    let configuration: HTTPConfiguration
    let doors: DoorSwitch
    /// The limits on messages, and the counter of bytes that wait.
    let limits: MessageLimits
    let admission: ConnectionAdmission
    /// Makes the TLS handler of a connection; nil for plaintext.
    let tls: (@Sendable () throws -> NIOSSLServerHandler)?
    /// Counts requests.
    let count: @Sendable (DoorTally) -> Void

    /// Counts a connection that the server ends.
    var onEnd: @Sendable (ConnectionEnd) -> Void { { self.admission.ends.count($0) } }

    /// Adds the handlers of a connection that was accepted, or refuses it.
    func accept(_ channel: any Channel) throws {
        guard let shares = try self.admission.admit(channel) else { return }
        if let tls = self.tls { try self.admission.addTLS(try tls(), to: channel) }
        let connection = DoorConnection(channel, shares)
        let deadline = channel.eventLoop.now + TimeAmount(self.configuration.headerTimeout)
        let chooser = ProtocolChooser(deadline: deadline, onEnd: self.onEnd) { isHTTP2 in
            // A peer that reads no answers is read no further: answers would pile up.
            try channel.pipeline.syncOperations.addHandler(BackPressureHandler())
            if isHTTP2 {
                try self.addHTTP2(to: channel, connection)
            } else {
                try self.addHTTP1(to: channel, connection, deadline)
            }
        }
        try channel.pipeline.syncOperations.addHandler(chooser)
    }

    private func addHTTP1(
        to channel: any Channel, _ connection: DoorConnection, _ deadline: NIODeadline
    ) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = self.configuration.headerBytes
        limits.maxHeaderListSize = self.configuration.headerBytes
        limits.maxHeaderFieldCount = HTTPConfiguration.headerFields
        let pipeline = channel.pipeline.syncOperations
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: true, withErrorHandling: false,
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
        try pipeline.addHandlers([
            HTTP1Handler(
                self.configuration, deadline: deadline, maxAge: self.admission.drawnAge(),
                grace: TimeAmount(self.admission.configuration.grace), onEnd: self.onEnd,
                count: self.count),
            RequestHandler(self, connection, isStream: false),
        ])
    }

    /// The guard answers PINGs and ends idle and old connections, as on the gRPC port; the
    /// library's handler ends a connection gracefully when it is told to.
    private func addHTTP2(to channel: any Channel, _ connection: DoorConnection) throws {
        try self.admission.addGuard(to: channel, connection.shares)
        let ending = NIOHTTP2ServerConnectionManagementHandler(
            eventLoop: channel.eventLoop,
            configuration: .init(
                maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil))
        let own = NIOLoopBound(connection, eventLoop: channel.eventLoop)
        let pipeline = channel.pipeline.syncOperations
        _ = try pipeline.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: self.http2, streamConfiguration: .init(),
            streamDelegate: ending.http2StreamDelegate
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandlers([
                    HTTP2FramePayloadToHTTPServerCodec(),
                    RequestHandler(self, own.value, isStream: true),
                ])
                ConnectionAdmission.streamOpened(stream)
            }
        }
        try pipeline.addHandlers([ending, HTTP2ErrorHandler()])
    }

    /// The library's limits on resets, SETTINGS, empty DATA and CONTINUATION stay as they are: they
    /// are those of the gRPC port.
    private var http2: NIOHTTP2Handler.ConnectionConfiguration {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = [
            HTTP2Setting(
                parameter: .maxConcurrentStreams, value: self.configuration.streamsPerConnection),
            HTTP2Setting(parameter: .maxHeaderListSize, value: Self.headerListBytes),
        ]
        configuration.targetWindowSize = Self.connectionWindow
        return configuration
    }

    /// The bytes of a header block, as HPACK counts them, beyond which the connection ends; up to
    /// it a request is refused with words.
    private static let headerListBytes = 16 << 10
    /// The bytes that a connection's streams may send without waiting.
    private static let connectionWindow = 1 << 20
}
