// Which protocol a connection's first bytes are of, and what of them the chosen one reads.
@testable internal import HTTPDoor
internal import NIOCore
internal import NIOEmbedded
internal import Testing

struct ProtocolChooserTests {
    /// Keeps what it reads. At the first read more is read, as after a write that failed.
    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private(set) var text = ""
        private var more: [String]

        init(more: [String]) { self.more = more }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = self.unwrapInboundIn(data)
            let more = self.more
            self.more = []
            for text in more {
                context.pipeline.syncOperations.fireChannelRead(NIOAny(ByteBuffer(string: text)))
            }
            self.text += String(buffer: bytes)
        }
    }

    /// What was chosen, and what was read then.
    private static func read(
        _ parts: [String], more: [String] = []
    ) throws -> (chosen: [Bool], text: String) {
        let channel = EmbeddedChannel()
        let reader = Reader(more: more)
        var chosen: [Bool] = []
        try channel.pipeline.syncOperations.addHandler(
            ProtocolChooser(deadline: .distantFuture, onEnd: { _ in }) { isHTTP2 in
                chosen.append(isHTTP2)
                try channel.pipeline.syncOperations.addHandler(reader)
            })
        for part in parts { try channel.writeInbound(ByteBuffer(string: part)) }
        _ = try channel.finish(acceptAlreadyClosed: true)
        return (chosen, reader.text)
    }

    @Test(
        "the first bytes choose once, wherever they are cut, and all of them are read",
        arguments: [
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", true), ("GET / HTTP/1.1\r\n\r\n", false),
            ("PRX / HTTP/1.1\r\n\r\n", false), ("P", nil), ("PRI", nil),
        ])
    func cuts(_ text: String, _ isHTTP2: Bool?) throws {
        for cut in 0..<text.count {
            let (chosen, read) = try Self.read([
                String(text.prefix(cut)), String(text.dropFirst(cut)),
            ])
            #expect(chosen == (isHTTP2.map { [$0] } ?? []), "cut at \(cut)")
            #expect(read == (isHTTP2 == nil ? "" : text), "cut at \(cut)")
        }
    }

    @Test("bytes that are read while the first are passed on choose nothing, and come behind them")
    func reentered() throws {
        let (chosen, text) = try Self.read(["PRI * ", "4"], more: ["2", "3"])
        #expect(chosen == [true])
        #expect(text == "PRI * 234")
    }
}
