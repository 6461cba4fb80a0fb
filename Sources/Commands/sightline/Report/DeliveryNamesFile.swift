internal import TrackingReport

/// The file of `--deliveries`.
enum DeliveryNamesFile {
    /// What the option takes, for its help.
    static let columns = "A CSV file with the columns id, name and delivered"

    /// Reads a file.
    ///
    /// - Throws: `FileReadError`, or `InputError` with the line of the first fault.
    static func read(_ file: String) throws -> DeliveryNames {
        guard let data = try InputFile.read(file, upTo: DeliveryNames.maxBytes) else {
            throw InputError(
                file: file, reason: "it has more than \(DeliveryNames.maxBytes) bytes")
        }
        do {
            return try DeliveryNames(csv: data)
        } catch {
            throw InputError(file: file, reason: "\(error)")
        }
    }
}
