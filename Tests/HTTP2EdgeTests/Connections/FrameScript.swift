// One direction of an HTTP/2 connection, frame by frame, with the expected results.
@testable internal import HTTP2Edge
internal import NIOCore

/// A client's bytes, those that pass, and the extracted PINGs.
struct FrameScript {
    private(set) var bytes: [UInt8] = []
    private(set) var passing: [UInt8] = []
    private(set) var pings: [UInt64] = []

    typealias Kind = HTTP2FrameHeader.Kind

    /// A client that has sent preface and SETTINGS.
    static var greeted: FrameScript {
        var script = FrameScript()
        script.pass(HTTP2FrameReader.preface)
        script.frame(Kind.settings, payload: [0, 3, 0, 0, 0, 100])
        return script
    }

    /// Every kind of frame that the reader distinguishes, in one connection.
    static var recorded: FrameScript {
        var script = Self.greeted
        script.ping(0x0102_0304_0506_0708)
        script.ping(.max)
        script.frame(Kind.settings, flags: 1)
        script.frame(Kind.headers, flags: 4, stream: 1, payload: Array(repeating: 0x82, count: 20))
        script.frame(Kind.data, stream: 1)
        script.ping(0)
        // A payload that looks like a PING is not one.
        script.frame(Kind.data, stream: 1, payload: HTTP2FrameHeader.pingAnswer(9))
        script.frame(Kind.data, stream: 1, payload: Self.ping(7))
        // An answer to a PING of the server.
        script.frame(Kind.ping, flags: 1, payload: Array(0..<8))
        script.frame(Kind.headers, stream: 3, payload: [1, 2, 3])
        script.frame(Kind.continuation, stream: 3, payload: [4])
        script.frame(Kind.continuation, flags: 4, stream: 3)
        script.ping(42)
        // The reserved bit passes unchanged; the type is unknown.
        script.frame(0xFB, flags: 0xFF, stream: 0x8000_0005, payload: [6])
        script.frame(Kind.goAway, payload: Array(repeating: 0, count: 8))
        script.ping(43)
        return script
    }

    /// A PING that wants an answer.
    static func ping(_ data: UInt64) -> [UInt8] {
        var frame = HTTP2FrameHeader.pingAnswer(data)
        frame[4] = 0
        return frame
    }

    static func frame(
        _ kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = []
    ) -> [UInt8] {
        HTTP2FrameHeader(length: payload.count, kind: kind, flags: flags, streamID: stream).bytes
            + payload
    }

    mutating func ping(_ data: UInt64) {
        self.bytes += Self.ping(data)
        self.pings.append(data)
    }

    mutating func frame(
        _ kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = []
    ) {
        self.pass(Self.frame(kind, flags: flags, stream: stream, payload: payload))
    }

    mutating func pass(_ bytes: [UInt8]) {
        self.bytes += bytes
        self.passing += bytes
    }

    /// The result of reading chunks.
    static func read(
        _ chunks: [[UInt8]], with reader: inout HTTP2FrameReader
    ) -> (passing: [UInt8], pings: [UInt64]) {
        var (passing, pings): ([UInt8], [UInt64]) = ([], [])
        for chunk in chunks {
            var offset = 0
            while let piece = reader.next(chunk.span, from: &offset) {
                switch piece {
                case .frame(_, let range), .part(let range): passing += chunk[range]
                case .header(let header): passing += header.bytes
                case .ping(let data): pings.append(data)
                }
            }
        }
        return (passing, pings)
    }
}
