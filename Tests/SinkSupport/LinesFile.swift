// Files of the jsonl sink, as those who read them do.
internal import CZstd
package import FileSinks
package import Foundation

/// A file of the jsonl sink.
package struct LinesFile {
    package let name: String
    package let path: String
    private let isCompressed: Bool

    package init(
        _ number: Int, _ compression: JSONLinesConfiguration.Compression = .none,
        in directory: String
    ) {
        self.isCompressed = compression == .zstd
        self.name = String(format: "hits-%06d.jsonl", number) + (self.isCompressed ? ".zst" : "")
        self.path = directory + "/" + self.name
    }

    /// Its bytes on the disk.
    package var bytes: Data { get throws { try Data(contentsOf: URL(filePath: self.path)) } }

    /// Its lines.
    package var text: String {
        get throws {
            let bytes = try self.bytes
            return String(
                decoding: self.isCompressed ? try Zstd.text(of: bytes) : bytes, as: UTF8.self)
        }
    }

    /// Replaces its bytes.
    package func write(_ bytes: Data) throws { try bytes.write(to: URL(filePath: self.path)) }
}

/// What libzstd makes of bytes.
package enum Zstd {
    package struct Failure: Error { let reason: String }

    /// The text of all frames, the last of which is whole.
    package static func text(of frames: Data) throws -> Data {
        let context = ZSTD_createDCtx()
        defer { ZSTD_freeDCtx(context) }
        var text = Data()
        var piece = [UInt8](repeating: 0, count: 128 << 10)
        var rest = 0
        try frames.withUnsafeBytes { frames in
            var input = ZSTD_inBuffer(src: frames.baseAddress, size: frames.count, pos: 0)
            while input.pos < input.size {
                let count = try piece.withUnsafeMutableBytes { piece in
                    var output = ZSTD_outBuffer(dst: piece.baseAddress, size: piece.count, pos: 0)
                    rest = ZSTD_decompressStream(context, &output, &input)
                    guard ZSTD_isError(rest) == 0 else {
                        throw Failure(reason: String(cString: ZSTD_getErrorName(rest)))
                    }
                    return output.pos
                }
                text.append(contentsOf: piece[..<count])
            }
        }
        guard rest == 0 else { throw Failure(reason: "the last frame is not whole") }
        return text
    }
}

extension JSONLinesConfiguration {
    /// The default settings with a change.
    package static func with(_ change: (inout Self) -> Void) -> Self {
        var configuration = Self()
        change(&configuration)
        return configuration
    }
}
