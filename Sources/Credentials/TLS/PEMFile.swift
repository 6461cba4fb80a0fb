// A PEM file as it was at one moment: its text, and who may read it. Reading is bounded, and never
// waits for a pipe.
// stat() is CoreFoundation's or Glibc's, by which of them the compiler meets first.
internal import CoreFoundation
internal import Foundation
internal import Glibc
internal import SwiftASN1

/// The contents and the permissions of a file, both of the same open descriptor.
struct PEMFile {
    /// Bytes of the largest file that is read: a bundle of all public authorities takes 220 KiB.
    static let maxBytes = 1 << 20

    /// What the file holds, in its order.
    let documents: [PEMDocument]
    private let mode: mode_t
    private let owner: uid_t

    /// Why a file cannot be used, without its name.
    struct Problem: Error {
        let reason: String
    }

    init(path: String) throws(Problem) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw Problem(reason: "cannot be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Problem(reason: "is no regular file")
        }
        self.mode = status.st_mode
        self.owner = status.st_uid
        let text = String(decoding: try Self.read(descriptor), as: UTF8.self)
        do {
            self.documents = try PEMDocument.parseMultiple(pemString: text)
        } catch {
            // The parser's own words may quote the file, which may be a key.
            throw Problem(reason: "is not PEM")
        }
    }

    /// What is wrong with who may read a private key; nil where nothing is.
    ///
    /// A key that others can read has to be taken for known, and only a refusal is noticed, so it
    /// is refused. A group may read what root owns: so secrets reach a process that is not root.
    var exposure: String? {
        let mode = self.mode & 0o777
        let allowed: mode_t = self.owner == 0 ? 0o740 : 0o700
        guard mode & ~allowed != 0 else { return nil }
        return "has mode 0\(String(mode, radix: 8)), which lets others use the key; run chmod 600 "
            + "on it (640 where root owns it), and replace a key that others may have read"
    }

    private static func read(_ descriptor: CInt) throws(Problem) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= Self.maxBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Problem(reason: "cannot be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
        throw Problem(reason: "is larger than \(Self.maxBytes) bytes, too much for PEM")
    }
}
