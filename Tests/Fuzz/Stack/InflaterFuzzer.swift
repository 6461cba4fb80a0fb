// Fuzzes the inflater. The first byte of an input selects the encoding and the chunks; the rest is
// the client's bytes. The messages must not depend on the chunks, none may exceed the limit, and
// uncompressed ones pass unchanged.
@testable internal import HTTP2Edge
internal import NIOCore

/// One stream's compressed messages.
enum InflaterFuzzer {
    private static let maxBytes = 2000

    static func run(_ input: [UInt8]) {
        guard let choices = input.first else { return }
        let encoding = choices & 1 == 0 ? "gzip" : "deflate"
        let bytes = Array(input.dropFirst())
        let whole = Passage(bytes, encoding, chunkBytes: bytes.count)
        for message in whole.messages { Self.check(message) }
        for size in [1, 7, 1 + Int(choices >> 1)] {
            let passage = Passage(bytes, encoding, chunkBytes: size)
            guard passage != whole else { continue }
            fatalError("in chunks of \(size): \(passage), and as a whole: \(whole)")
        }
    }

    private static func check(_ message: [UInt8]) {
        let length = message.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard message.first == 0, length == message.count - 5, length <= Self.maxBytes else {
            fatalError("a message of \(message.count) bytes begins with \(message.prefix(5))")
        }
    }

    /// The result for all bytes.
    private struct Passage: Equatable {
        var messages: [[UInt8]] = []
        var failure: InflateFailure?
        var hasRest = false

        init(_ bytes: [UInt8], _ encoding: String, chunkBytes: Int) {
            guard let inflater = MessageInflater(encoding, maxBytes: InflaterFuzzer.maxBytes) else {
                fatalError("there is no inflater of \(encoding)")
            }
            var rest = ByteBuffer(bytes: bytes)
            do throws(InflateFailure) {
                while let chunk = rest.readSlice(
                    length: min(max(chunkBytes, 1), rest.readableBytes)),
                    chunk.readableBytes > 0
                {
                    inflater.append(chunk)
                    while let message = try inflater.next() {
                        self.messages.append(Array(message.readableBytesView))
                    }
                }
                self.hasRest = inflater.hasRest
            } catch {
                self.failure = error
            }
        }
    }
}
