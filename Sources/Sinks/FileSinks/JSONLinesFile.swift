internal import Glibc

/// The file of the jsonl sink that batches are appended to.
struct JSONLinesFile: ~Copyable {
    let number: Int
    /// The bytes of whole batches.
    private(set) var size: Int
    private let descriptor: CInt
    /// Whether a part of a failed append may stand behind `size`.
    private var mayHaveRest = false

    /// Opens a file, or creates it and syncs its name.
    init(
        _ file: JSONLinesDirectory.File, in directory: JSONLinesDirectory
    ) throws(WriteError) {
        let descriptor = Glibc.open(
            directory.path(of: file), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw WriteError(number: errno) }
        do {
            try directory.sync()
        } catch {
            close(descriptor)
            throw error
        }
        self.number = file.number
        self.size = Int(lseek(descriptor, 0, SEEK_END))
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    /// Appends what `write` writes to a descriptor and syncs it, or nothing: what a failure leaves
    /// is cut off at once, or else before the next append.
    ///
    /// - Parameter write: returns the number of bytes.
    mutating func append(_ write: (CInt) throws -> Int) throws {
        try self.cutRest()
        self.mayHaveRest = true
        do {
            let bytes = try write(self.descriptor)
            guard fdatasync(self.descriptor) == 0 else { throw WriteError(number: errno) }
            self.size += bytes
            self.mayHaveRest = false
        } catch {
            // The next append tries it again.
            try? self.cutRest()
            throw error
        }
    }

    private mutating func cutRest() throws(WriteError) {
        guard self.mayHaveRest else { return }
        guard ftruncate(self.descriptor, self.size) == 0 else {
            throw WriteError(number: errno, action: "truncate")
        }
        self.mayHaveRest = false
    }
}
