internal import Foundation

/// The events of NDJSON files, in sequence, read on demand. Malformed lines are passed to
/// `onBadLine` and skipped.
package struct EventFiles: AsyncSequence, Sendable {
    /// An event with its origin.
    package typealias Element = OutgoingEvent

    private let files: [String]
    private let onBadLine: @Sendable (EventOrigin, BadLine) -> Void

    /// Creates the sequence; `-` means standard input.
    package init(
        _ files: [String], onBadLine: @escaping @Sendable (EventOrigin, BadLine) -> Void
    ) {
        self.files = files
        self.onBadLine = onBadLine
    }

    /// Starts at the first file. Iteration throws `FileReadError`.
    package func makeAsyncIterator() -> Iterator {
        Iterator(files: self.files[...], onBadLine: self.onBadLine)
    }

    /// Reads the files in pieces.
    package struct Iterator: AsyncIteratorProtocol {
        private var files: ArraySlice<String>
        private let onBadLine: @Sendable (EventOrigin, BadLine) -> Void
        private var open: OpenFile?
        /// Of the open file.
        private var reader: NDJSONReader?
        private var lines: ArraySlice<NDJSONLine> = []

        fileprivate init(
            files: ArraySlice<String>,
            onBadLine: @escaping @Sendable (EventOrigin, BadLine) -> Void
        ) {
            self.files = files
            self.onBadLine = onBadLine
        }

        /// The next event; nil after the last file.
        package mutating func next() async throws -> OutgoingEvent? {
            while true {
                while let line = self.lines.popFirst() {
                    let name = self.open?.name ?? "-"
                    switch line {
                    case .event(let event, let number):
                        return OutgoingEvent(
                            event, origin: EventOrigin(file: name, line: number))
                    case .bad(let bad):
                        self.onBadLine(EventOrigin(file: name, line: bad.line), bad)
                    }
                }
                guard try await self.readPiece() else { return nil }
            }
        }

        /// Reads the next piece; false after the last file.
        private mutating func readPiece() async throws -> Bool {
            guard let open = self.open else {
                guard let name = self.files.popFirst() else { return false }
                self.open = try OpenFile(name)
                self.reader = try NDJSONReader()
                return true
            }
            guard let bytes = try await open.read() else {
                if let last = self.reader?.finish() {
                    // The next call finds the file's end again, and then closes the file.
                    self.lines = [last]
                    return true
                }
                self.open = nil
                return true
            }
            self.lines = (self.reader?.feed(bytes) ?? [])[...]
            return true
        }
    }
}

/// A file descriptor, closed when its last reference is released.
private final class OpenFile: Sendable {
    private static let pieceByteCount = 64 * 1024
    /// How often to poll a pipe or terminal without data. A blocking read would hold a thread of
    /// the cooperative pool, which may have only one.
    private static let askInterval: Duration = .milliseconds(10)

    let name: String
    private let descriptor: Int32

    init(_ name: String) throws {
        self.name = name
        guard name != "-" else {
            self.descriptor = STDIN_FILENO
            return
        }
        self.descriptor = Foundation.open(name, O_RDONLY | O_CLOEXEC)
        guard self.descriptor >= 0 else { throw OpenFile.failure(name) }
    }

    deinit {
        if self.descriptor != STDIN_FILENO { close(self.descriptor) }
    }

    /// The next bytes; nil at the end.
    func read() async throws -> [UInt8]? {
        var request = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&request, 1, 0) == 0 {
            try await Task.sleep(for: Self.askInterval)
        }
        var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
        while true {
            let count = Foundation.read(self.descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw OpenFile.failure(self.name) }
            return count == 0 ? nil : Array(piece.prefix(count))
        }
    }

    private static func failure(_ name: String) -> FileReadError {
        FileReadError(file: name, reason: String(cString: strerror(errno)))
    }
}
