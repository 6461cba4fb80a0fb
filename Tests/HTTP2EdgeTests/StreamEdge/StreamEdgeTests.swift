// The edge of a stream, beside a stand-in for the gRPC library.
internal import Foundation
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import HTTP2Edge
internal import NIOCore
internal import NIOEmbedded
internal import NIOHPACK
internal import NIOHTTP2
internal import Synchronization
internal import Testing
@testable internal import TrackingServer

struct StreamEdgeTests {
    private typealias Frame = HTTP2Frame.FramePayload

    /// Closes the stream as it reads data, as the library does with a message that it cannot read.
    private final class Refuser: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame.FramePayload

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .data = self.unwrapInboundIn(data) else { return }
            context.close(promise: nil)
        }
    }

    /// Closes the stream as the first DATA frame comes.
    private final class FirstFrameCloser: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame.FramePayload

        private(set) var frames: [[UInt8]] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .data(let frame) = self.unwrapInboundIn(data),
                case .byteBuffer(let bytes) = frame.data
            else { return }
            self.frames.append([UInt8](bytes.readableBytesView))
            if self.frames.count == 1 { context.close(promise: nil) }
        }
    }

    private static let metadataLimit = MetadataLimit(maxBytes: 1000)
    private static let limits = {
        var configuration = EdgeConfiguration()
        configuration.smallMessageBytes = 1000
        return MessageLimits(
            configuration, streamPath: TrackingService.streamPath,
            methodBytes: TrackingService.messageBytes, buffered: BufferedBytes(maxBytes: 1 << 20))
    }()

    private func channel(
        _ compressors: CompressorBudget? = nil, _ handlers: any ChannelHandler...
    ) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(
            StreamEdge(
                limits: Self.limits, metadataLimit: Self.metadataLimit, compressors: compressors,
                connection: ConnectionShares(), termination: EdgeTrailers.termination()))
        try channel.pipeline.syncOperations.addHandlers(handlers)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func headers(_ headers: HPACKHeaders, isEnd: Bool = false) -> Frame {
        .headers(.init(headers: headers, endStream: isEnd))
    }

    private func data(_ bytes: [UInt8], isEnd: Bool = false) -> Frame {
        .data(.init(data: .byteBuffer(ByteBuffer(bytes: bytes)), endStream: isEnd))
    }

    /// A message of a byte.
    private let message: [UInt8] = [0, 0, 0, 0, 1, 7]

    /// The DATA frames that the library gets, each with its bytes and whether it is the half-close.
    private func passed(_ channel: EmbeddedChannel) throws -> [(bytes: [UInt8], isEnd: Bool)] {
        var passed: [(bytes: [UInt8], isEnd: Bool)] = []
        while let frame = try channel.readInbound(as: Frame.self) {
            guard case .data(let data) = frame, case .byteBuffer(let bytes) = data.data else {
                continue
            }
            passed.append((Array(bytes.readableBytesView), data.endStream))
        }
        return passed
    }

    private func nextHeaders(_ channel: EmbeddedChannel) throws -> HPACKHeaders? {
        guard case .headers(let frame) = try channel.readOutbound(as: Frame.self) else {
            return nil
        }
        return frame.headers
    }

    /// The headers of a call without its number, which the edge has added.
    private func sent(_ head: Frame.Headers) -> HPACKHeaders {
        var headers = head.headers
        headers.remove(name: "sightline-call")
        return headers
    }

    private func status(_ headers: HPACKHeaders) throws -> GoogleRPCStatus {
        let text = try #require(headers.first(name: "grpc-status-details-bin"))
        return try GoogleRPCStatus(serializedBytes: Array(try #require(Data(base64Encoded: text))))
    }

    @Test(
        "a stream that the library closes over data without a fault ends as a failure of ours",
        arguments: [
            false, true,
        ])
    func failure(_ hasAnswered: Bool) throws {
        let channel = try self.channel(nil, Refuser())
        try channel.writeInbound(self.headers([":path": "/a/b"]))
        if hasAnswered {
            try channel.writeOutbound(self.headers([":status": "200"]))
            _ = try self.nextHeaders(channel)
        }
        try channel.writeInbound(self.data(self.message))
        let trailers = try #require(try self.nextHeaders(channel))
        // The head of the answer comes once.
        #expect(trailers.contains(name: ":status") == !hasAnswered)
        #expect(trailers.first(name: "grpc-status") == "13")
        let status = try self.status(trailers)
        #expect(status.details.compactMap(\.errorInfo).map(\.reason) == ["INTERNAL_FAILURE"])
        try self.checkReset(channel)
    }

    /// The status is followed by a reset, by which the client may still use it.
    private func checkReset(_ channel: EmbeddedChannel) throws {
        guard case .rstStream(.noError) = try channel.readOutbound(as: Frame.self) else {
            Issue.record("no reset after the status")
            return
        }
        #expect(!channel.isActive)
    }

    @Test("what cannot be read is refused with its cause before the library sees it")
    func refusal() throws {
        let rows: [(bytes: [UInt8], code: String, reason: String, text: String)] = [
            ([1, 0, 0, 0, 1, 7], "3", "REQUEST_MALFORMED", "grpc-encoding"),
            ([2, 0, 0, 0, 1, 7], "3", "REQUEST_MALFORMED", "flag is 2"),
            ([0, 0, 0, 3, 0xE9], "8", "REQUEST_TOO_LARGE", "1000 bytes"),
        ]
        for row in rows {
            let channel = try self.channel()
            try channel.writeInbound(self.headers([":path": "/a/b"]))
            try channel.writeInbound(self.data(row.bytes))
            #expect(try self.passed(channel).isEmpty)
            let trailers = try #require(try self.nextHeaders(channel))
            #expect(trailers.first(name: "grpc-status") == row.code)
            let status = try self.status(trailers)
            #expect(status.message.contains(row.text), "\(status.message)")
            #expect(status.details.compactMap(\.errorInfo).map(\.reason) == [row.reason])
            #expect(status.details.allSatisfy { $0.retryInfo == nil })
            try self.checkReset(channel)
        }
    }

    @Test(
        "a stream's requests before a message that cannot be read are answered before it is refused",
        arguments: [nil, "gzip"])
    func refusedBehindRequests(_ encoding: String?) throws {
        for isOneFrame in [true, false] {
            let channel = try self.channel(CompressorBudget(limit: 0))
            var head: HPACKHeaders = [":path": TrackingService.streamPath]
            if let encoding { head.add(name: "grpc-encoding", value: encoding) }
            try channel.writeInbound(self.headers(head))
            // Flag 1 has no encoding, or what follows it is no gzip.
            let refused: [UInt8] = [1, 0, 0, 0, 1, 7]
            let frames = isOneFrame ? [self.message + refused] : [self.message, refused]
            for frame in frames { try channel.writeInbound(self.data(frame)) }
            let passed = try self.passed(channel)
            #expect(passed.map { $0.bytes } == [self.message, []])
            #expect(passed.map { $0.isEnd } == [false, true])
            // What the client still sends is not for the library.
            try channel.writeInbound(self.data(self.message))
            #expect(try self.passed(channel).isEmpty)
            #expect(try channel.readOutbound(as: Frame.self) == nil && channel.isActive)
            try channel.writeOutbound(self.headers([":status": "200"]))
            try channel.writeOutbound(self.data(self.message))
            try channel.writeOutbound(self.headers(["grpc-status": "0"], isEnd: true))
            #expect(try self.nextHeaders(channel) == [":status": "200"])
            guard case .data = try channel.readOutbound(as: Frame.self) else {
                Issue.record("the request is not answered")
                return
            }
            let trailers = try #require(try self.nextHeaders(channel))
            #expect(trailers["grpc-status"] == ["3"] && !trailers.contains(name: ":status"))
            let reasons = try self.status(trailers).details.compactMap(\.errorInfo).map(\.reason)
            #expect(reasons == ["REQUEST_MALFORMED"])
            // A reset would drop answers that wait for the client's window.
            #expect(try channel.readOutbound(as: Frame.self) == nil && channel.isActive)
            try channel.writeInbound(self.data(self.message, isEnd: true))
            #expect(try self.passed(channel).isEmpty)
        }
    }

    @Test("the deadline of a call holds also while requests before a refused message are answered")
    func refusedWithDeadline() throws {
        let channel = try self.channel()
        try channel.writeInbound(
            self.headers([":path": TrackingService.streamPath, "grpc-timeout": "2S"]))
        try channel.writeInbound(self.data(self.message + [1]))
        channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(try self.nextHeaders(channel)?.first(name: "grpc-status") == "4")
        try self.checkReset(channel)
    }

    @Test(
        "trailers of a client are its half-close, behind all that came before",
        arguments: [
            (TrackingService.streamPath, nil), (TrackingService.streamPath, "gzip"), ("/a/b", nil),
            ("/a/b", "gzip"),
        ] as [(String, String?)])
    func trailers(_ path: String, _ encoding: String?) throws {
        let channel = try self.channel(CompressorBudget(limit: 0))
        var head: HPACKHeaders = [":path": path]
        if let encoding { head.add(name: "grpc-encoding", value: encoding) }
        try channel.writeInbound(self.headers(head))
        try channel.writeInbound(self.data(self.message))
        try channel.writeInbound(self.headers(["x-end": "1"], isEnd: true))
        // Inflated messages pass in batches, each of which the reader asks for.
        channel.pipeline.read()
        let passed = try self.passed(channel)
        #expect(passed.map { $0.bytes } == [self.message, []])
        #expect(passed.map { $0.isEnd } == [false, true])
        #expect(try channel.readOutbound(as: Frame.self) == nil && channel.isActive)
    }

    @Test("trailers behind a call's answer are its half-close too")
    func lateTrailers() throws {
        let channel = try self.channel()
        try channel.writeInbound(self.headers([":path": "/a/b"]))
        try channel.writeOutbound(self.headers(["grpc-status": "0"], isEnd: true))
        try channel.writeInbound(self.headers(["x-end": "1"], isEnd: true))
        #expect(try self.passed(channel).map { $0.isEnd } == [true])
    }

    @Test("a stream that the library closes over a frame gets no frame twice")
    func closedMeanwhile() throws {
        let closer = FirstFrameCloser()
        let channel = try self.channel(nil, closer)
        try channel.writeInbound(self.headers([":path": TrackingService.streamPath]))
        for frame in [[0, 0, 0], [0, 9, 1]] as [[UInt8]] {
            channel.pipeline.fireChannelRead(
                Frame.data(.init(data: .byteBuffer(ByteBuffer(bytes: frame)))))
        }
        #expect(closer.frames.isEmpty)
        channel.pipeline.fireChannelReadComplete()
        #expect(closer.frames == [[0, 0, 0], [0, 9, 1]])
        #expect(!channel.isActive)
    }

    @Test("a stream that its head ends is one whose end comes in an empty frame")
    func endInHead() throws {
        let channel = try self.channel()
        try channel.writeInbound(self.headers([":path": "/a/b"], isEnd: true))
        guard case .headers(let head) = try channel.readInbound(as: Frame.self),
            case .data(let end) = try channel.readInbound(as: Frame.self)
        else {
            Issue.record("not a head and an end")
            return
        }
        #expect(self.sent(head) == [":path": "/a/b"] && !head.endStream)
        #expect(end.data.readableBytes == 0 && end.endStream)
        #expect(try channel.readInbound(as: Frame.self) == nil)
    }

    @Test("a call whose timeout is none ends with a status before the library sees it")
    func timeout() throws {
        let channel = try self.channel()
        try channel.writeInbound(self.headers([":path": "/a/b", "grpc-timeout": "-1S"]))
        #expect(try channel.readInbound(as: Frame.self) == nil)
        let trailers = try #require(try self.nextHeaders(channel))
        #expect(trailers.first(name: "grpc-status") == "3")
        let status = try self.status(trailers)
        #expect(status.message.contains(#""-1S""#))
        #expect(
            status.details.compactMap(\.badRequest).flatMap(\.violations).map(\.field)
                == ["grpc-timeout"])
        #expect(!channel.isActive)
    }

    @Test("a call ends when its time is over, of which the library knows nothing")
    func deadline() throws {
        let channel = try self.channel()
        try channel.writeInbound(self.headers([":path": "/a/b", "grpc-timeout": "2S"]))
        guard case .headers(let head) = try channel.readInbound(as: Frame.self) else {
            Issue.record("the library sees no call")
            return
        }
        #expect(self.sent(head) == [":path": "/a/b"])
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1999))
        #expect(try channel.readOutbound(as: Frame.self) == nil && channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        let trailers = try #require(try self.nextHeaders(channel))
        #expect(trailers.first(name: "grpc-status") == "4")
        let status = try self.status(trailers)
        #expect(status.details.compactMap(\.errorInfo).map(\.reason) == ["CALL_ENDED"])
        #expect(!channel.isActive)
    }

    @Test("nothing of a call that has ended waits for its time")
    func noDeadline() throws {
        let channel = try self.channel()
        try channel.writeInbound(self.headers([":path": "/a/b", "grpc-timeout": "2S"]))
        try channel.writeOutbound(self.headers(["grpc-status": "0"], isEnd: true))
        #expect(try self.nextHeaders(channel) == ["grpc-status": "0"])
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(try channel.readOutbound(as: Frame.self) == nil && channel.isActive)
    }

    @Test("a stream that is closed at another moment is told that the server stops")
    func cancelled() throws {
        let channel = try self.channel()
        try channel.writeInbound(self.headers([":path": "/a/b"]))
        channel.close(promise: nil)
        let trailers = try #require(try self.nextHeaders(channel))
        #expect(trailers.first(name: "grpc-status") == "14")
        let reasons = try self.status(trailers).details.compactMap(\.errorInfo).map(\.reason)
        #expect(reasons == ["SERVER_CLOSING"])
        try self.checkReset(channel)
    }

    @Test("a stream that takes no bytes, has not begun or has ended is closed without a status")
    func otherCloses() throws {
        let idle = try self.channel()
        idle.close(promise: nil)
        #expect(try idle.readOutbound(as: Frame.self) == nil)
        let full = try self.channel()
        try full.writeInbound(self.headers([":path": "/a/b"]))
        full.isWritable = false
        full.close(promise: nil)
        #expect(try full.readOutbound(as: Frame.self) == nil)
        let ended = try self.channel(nil, Refuser())
        try ended.writeInbound(self.headers([":path": "/a/b"]))
        try ended.writeOutbound(self.headers(["grpc-status": "0"], isEnd: true))
        #expect(try self.nextHeaders(ended) == ["grpc-status": "0"])
        try ended.writeInbound(self.data(self.message))
        #expect(try ended.readOutbound(as: Frame.self) == nil)
    }

    @Test(
        "trailers without details get them",
        arguments: [
            ("12", "UNIMPLEMENTED", "12"), ("3", "REQUEST_MALFORMED", "3"),
            ("1", "CALL_ENDED", "1"), ("4", "CALL_ENDED", "4"), ("14", "SERVER_CLOSING", "14"),
            ("2", "INTERNAL_FAILURE", "13"), ("13", "INTERNAL_FAILURE", "13"),
        ])
    func details(_ code: String, _ reason: String, _ sent: String) throws {
        let channel = try self.channel()
        let trailers: HPACKHeaders = ["grpc-status": code, "grpc-message": "50%25 done"]
        try channel.writeOutbound(self.headers(trailers, isEnd: true))
        let headers = try #require(try self.nextHeaders(channel))
        #expect(headers["grpc-status"] == [sent])
        let status = try self.status(headers)
        #expect(status.message == "50% done" && "\(status.code.rawValue)" == sent)
        #expect(status.details.compactMap(\.errorInfo).map(\.reason) == [reason])
    }

    @Test("of trailers the connection's table of headers keeps the status alone")
    func unindexed() throws {
        let channel = try self.channel()
        let library: HPACKHeaders = ["grpc-status": "3", "grpc-message": "what a peer sent"]
        try channel.writeOutbound(self.headers(library, isEnd: true))
        let ours = try self.channel()
        try ours.writeInbound(self.headers([":path": "/a/b", "grpc-timeout": "x"]))
        for channel in [channel, ours] {
            let trailers = try #require(try self.nextHeaders(channel))
            let indexed = trailers.filter { $0.indexable != .nonIndexable }.map(\.name)
            #expect(Set(indexed).isSubset(of: [":status", "content-type", "grpc-status"]))
            #expect(trailers.contains(name: "grpc-message"))
        }
    }

    @Test(
        "trailers that need none stay as they are",
        arguments: [
            ["grpc-status": "0"], ["grpc-status": "8", "grpc-status-details-bin": "AAAA"],
            ["grpc-status": "99"], ["grpc-status": "words"], ["x": "y"],
        ] as [HPACKHeaders])
    func noDetails(_ headers: HPACKHeaders) throws {
        let channel = try self.channel()
        try channel.writeOutbound(self.headers(headers, isEnd: true))
        #expect(try self.nextHeaders(channel) == headers)
    }

    @Test("the reason of each call that ends with an error is told once")
    func refusals() throws {
        let reasons = Mutex<[ServiceError.Reason]>([])
        func end(_ trailers: HPACKHeaders, _ handlers: any ChannelHandler...) throws {
            let channel = EmbeddedChannel()
            try channel.pipeline.syncOperations.addHandlers(
                [
                    StreamEdge(
                        limits: Self.limits, metadataLimit: Self.metadataLimit, compressors: nil,
                        connection: ConnectionShares(),
                        termination: EdgeTrailers.termination { reason in
                            reasons.withLock { $0.append(reason) }
                        })
                ] + handlers)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            try channel.writeInbound(self.headers([":path": "/a/b"]))
            try channel.writeInbound(self.data(self.message))
            guard channel.isActive else { return }
            try channel.writeOutbound(self.headers(trailers, isEnd: true))
        }
        try end(["grpc-status": "0"])
        try end(["grpc-status": "12"])
        try end(EdgeTrailers.trailers(.overloaded))
        try end([:], Refuser())
        try end(["grpc-status": "8", "grpc-status-details-bin": "AAAA"])
        #expect(reasons.withLock { $0 } == [.unimplemented, .overloaded, .internalFailure])
    }

    @Test("a stream's compressor is given back with the stream")
    func compressor() throws {
        let budget = CompressorBudget(limit: 1)
        func accepted(_ channel: EmbeddedChannel) throws -> [String]? {
            try channel.writeInbound(
                self.headers([":path": "/a/b", "grpc-accept-encoding": "gzip"]))
            guard case .headers(let frame) = try channel.readInbound(as: Frame.self) else {
                return nil
            }
            return frame.headers["grpc-accept-encoding"]
        }
        let first = try self.channel(budget)
        #expect(try accepted(first) == ["gzip"])
        #expect(try accepted(try self.channel(budget)) == ["identity"])
        _ = try first.finish()
        #expect(try accepted(try self.channel(budget)) == ["gzip"])
    }
}
