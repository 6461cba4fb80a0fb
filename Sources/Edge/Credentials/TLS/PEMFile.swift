// stat() is CoreFoundation's or Glibc's, depending on which module the compiler loads first.
internal import CoreFoundation
internal import Foundation
internal import Glibc
internal import SwiftASN1

/// The contents and permissions of a PEM file, from one open descriptor. Reading is bounded and
/// never blocks on a pipe.
struct PEMFile {
    /// The maximum bytes of a file; a bundle of all public CAs takes 220 KiB.
    static let maxBytes = 1 << 20

    /// The documents, in the order of the file.
    let documents: [PEMDocument]
    private let mode: mode_t
    private let owner: uid_t

    /// Why a file is unusable, without its name.
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
            // The parser's message may quote the file, which may hold a key.
            throw Problem(reason: "is not PEM")
        }
    }

    /// Why the permissions of a private key are too open; nil if they are not.
    ///
    /// A key that others can read may be compromised, and a warning would go unnoticed, so it is
    /// refused. Group access is allowed for files of root: secrets are mounted that way for other
    /// users.
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
