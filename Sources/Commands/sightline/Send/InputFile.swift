package import Foundation

/// Reads files that the user named; `-` is standard input.
package enum InputFile {
    /// Larger files are not counted in advance, which would take too long.
    private static let maxCountedByteCount = 256 * 1024 * 1024
    private static let pieceByteCount = 64 * 1024

    /// Reads a payload.
    ///
    /// - Throws: `FileReadError`, or `InputError` above the reader's limit.
    package static func read(_ file: String) throws -> Data {
        let limit = PayloadReader.maximumByteCount
        if let data = try self.read(file, upTo: limit) { return data }
        throw InputError(
            file: file,
            reason: "the file has more than \(limit) bytes, the most that a payload may have; "
                + "name one payload per file, or leave --platform out to read events line by line")
    }

    /// Reads a file whole; nil if it has more than `limit` bytes.
    ///
    /// - Throws: `FileReadError`.
    package static func read(_ file: String, upTo limit: Int) throws -> Data? {
        let handle = try self.open(file)
        defer { if file != "-" { close(handle.fileDescriptor) } }
        var data = Data()
        do {
            while data.count <= limit {
                guard let piece = try handle.read(upToCount: Self.pieceByteCount), !piece.isEmpty
                else { return data }
                data.append(piece)
            }
        } catch {
            throw FileReadError(file: file, reason: "\(error.localizedDescription)")
        }
        return nil
    }

    /// The contents of a file that is small enough for a payload; nil for a larger one, and for a
    /// pipe, which can be read only once.
    ///
    /// - Throws: `FileReadError`.
    package static func payload(in file: String) throws -> Data? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
        return try self.read(file, upTo: PayloadReader.maximumByteCount)
    }

    /// Checks that files exist and are readable before anything is sent.
    ///
    /// - Throws: `FileReadError`.
    package static func check(_ files: [String]) throws {
        for file in files where file != "-" {
            let handle = try self.open(file)
            close(handle.fileDescriptor)
        }
    }

    /// The number of non-empty lines in all files; nil if counting takes too long, or if the input
    /// can be read only once.
    package static func lineCount(_ files: [String]) -> Int? {
        var total = 0
        for file in files {
            // Errors are ignored: reading the file reports them.
            let attributes = try? FileManager.default.attributesOfItem(atPath: file)
            guard file != "-", let attributes,
                attributes[.type] as? FileAttributeType == .typeRegular,
                let size = attributes[.size] as? Int, size <= Self.maxCountedByteCount,
                let handle = try? self.open(file)
            else { return nil }
            defer { close(handle.fileDescriptor) }
            total += self.lineCount(of: handle)
        }
        return total
    }

    private static func lineCount(of handle: FileHandle) -> Int {
        var count = 0
        var isEmpty = true
        // Errors are ignored: the bar is then wrong, and reading the file reports them.
        while let piece = try? handle.read(upToCount: Self.pieceByteCount), !piece.isEmpty {
            for byte in piece {
                if byte == UInt8(ascii: "\n") {
                    if !isEmpty { count += 1 }
                    isEmpty = true
                } else {
                    isEmpty = false
                }
            }
        }
        return isEmpty ? count : count + 1
    }

    private static func open(_ file: String) throws -> FileHandle {
        if file == "-" { return FileHandle.standardInput }
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory),
            isDirectory.boolValue
        {
            throw FileReadError(file: file, reason: "it is a directory, not a file")
        }
        let descriptor = Foundation.open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw FileReadError(file: file, reason: String(cString: strerror(errno)))
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    }
}
