// The frames of gRPC-Web, cut at each place.
internal import GRPCCore
@testable internal import HTTPDoor
internal import NIOCore
internal import Testing

struct GRPCWebFramesTests {
    private func frame(_ flag: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [flag, 0, 0, 0, UInt8(bytes.count)] + bytes
    }

    private func read(_ bytes: [UInt8]) -> Result<GRPCWebFrames.Message, ConnectRefusal> {
        Result { () throws(ConnectRefusal) in
            try GRPCWebFrames.message(in: ByteBuffer(bytes: bytes))
        }
    }

    @Test("a whole frame is a message, an empty one too")
    func whole() {
        for bytes in [[], [1], [1, 2, 3]] as [[UInt8]] {
            for flag in [0, 1] as [UInt8] {
                #expect(
                    self.read(self.frame(flag, bytes))
                        == .success(.init(isCompressed: flag == 1, bytes: ByteBuffer(bytes: bytes)))
                )
            }
        }
    }

    @Test("a frame that is cut, wherever, is refused")
    func cut() {
        let whole = self.frame(0, [1, 2, 3])
        for count in 0..<whole.count {
            guard case .failure(let refusal) = self.read(Array(whole.prefix(count))) else {
                Issue.record("\(count) bytes are taken for a whole frame")
                continue
            }
            #expect(refusal.reason == (count == 0 ? .messageCount : .requestMalformed))
        }
    }

    @Test("what follows a message is refused, and so are other flags")
    func others() {
        for rest in [[0], self.frame(0, [1]), self.frame(0x80, [])] as [[UInt8]] {
            let both = self.read(self.frame(0, [1]) + rest)
            guard case .failure(let refusal) = both else {
                Issue.record("two messages are taken for one")
                continue
            }
            #expect(refusal.reason == .messageCount)
        }
        for flag in [2, 3, 0x80, 0xff] as [UInt8] {
            guard case .failure(let refusal) = self.read(self.frame(flag, [1])) else {
                Issue.record("the flag \(flag) is taken")
                continue
            }
            #expect(refusal.message.contains("\(flag)"))
        }
    }

    @Test("a message has 1 MiB at most, which its length tells before it is there")
    func length() {
        let most = [0, 0, 0x10, 0, 0] + [UInt8](repeating: 0, count: 1 << 20)
        guard case .success(let message) = self.read(most) else {
            Issue.record("a message of 1 MiB is refused")
            return
        }
        #expect(message.bytes.readableBytes == ConnectMethod.maxMessageBytes)
        for head in [[0, 0, 0x10, 0, 1], [0, 0xff, 0xff, 0xff, 0xff]] as [[UInt8]] {
            guard case .failure(let refusal) = self.read(head) else {
                Issue.record("a larger one is taken")
                continue
            }
            #expect(refusal.reason == .requestTooLarge)
        }
    }

    @Test("an answer is its message and its trailers, in small letters, a line each")
    func answer() {
        let answer = DoorAnswer(
            message: ByteBuffer(bytes: [7]), status: Status(code: .ok, message: ""),
            metadata: ["a": "b", "c-bin": .binary([0xff])])
        let lines = "grpc-status: 0\r\na: b\r\nc-bin: /w==\r\n"
        #expect(
            GRPCWebFrames.frames(of: answer)
                == ByteBuffer(bytes: self.frame(0, [7]) + self.frame(0x80, Array(lines.utf8))))
    }

    @Test("an error is its trailers alone, its message percent-encoded")
    func error() {
        let answer = DoorAnswer(
            message: ByteBuffer(bytes: [7]),
            status: Status(code: .notFound, message: "a\r\ngrpc-status: 0 \u{e9}%"))
        let lines =
            "grpc-status: 5\r\ngrpc-message: a%0d%0agrpc-status: 0 %c3%a9%25\r\n"
        #expect(
            GRPCWebFrames.frames(of: answer)
                == ByteBuffer(bytes: self.frame(0x80, Array(lines.utf8))))
    }
}
