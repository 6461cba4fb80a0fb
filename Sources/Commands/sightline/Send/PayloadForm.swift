package import Foundation
package import JSON
internal import TrackingReport
internal import TrackingRules
internal import WireFormat

/// Recognizes payloads and their platform, for users who omit --platform or give a wrong one.
package enum PayloadForm {
    /// The platform that a payload's shape shows: iOS payloads have `aps`, Android's have `data` or
    /// are what the app got of it, a flat map with the ids, and an FCM v1 message has either, or is
    /// for both; nil if the shape shows none.
    package static func platform(of payload: JSONValue) -> PlatformName? {
        let own = payload.objectValue ?? [:]
        let message = own["message"]?.objectValue ?? [:]
        func has(_ keys: [String]) -> Bool {
            keys.contains { own[$0] != nil || message[$0] != nil }
        }
        switch (has(["aps", "apns"]), has(["data", "android"])) {
        case (true, false): return .ios
        case (false, true): return .android
        case (true, true): return nil
        case (false, false):
            return PayloadID.allCases.contains { own[$0.rawValue] != nil } ? .android : nil
        }
    }

    /// Checks that files to be read as events, line by line, are not payloads.
    ///
    /// - Throws: `MissingPlatformError` for the first payload; `FileReadError`.
    package static func checkNoPayloads(in files: [String]) throws {
        // Standard input can be read only once.
        for file in files where file != "-" {
            guard let data = try InputFile.payload(in: file),
                let payload = try? PayloadReader().document(from: data),
                let platform = Self.platform(of: payload.value)
            else { continue }
            throw MissingPlatformError(file: file, platform: platform)
        }
    }

    /// Checks that a payload does not contradict its platform, by the rule under which the server
    /// would reject it (D39).
    ///
    /// - Throws: `WrongPlatformError`.
    package static func check(_ data: Data, file: String, platform: PlatformName) throws {
        // Whoever reads it reports that it is not a payload.
        guard let payload = try? PayloadReader().document(from: data) else { return }
        let other: PlatformName = platform == .ios ? .android : .ios
        if payload.contradicts(platform.platform), !payload.contradicts(other.platform) {
            throw WrongPlatformError(file: file, named: platform, own: other)
        }
    }
}

/// A payload was given without its platform.
package struct MissingPlatformError: Error, CustomStringConvertible {
    let file: String
    let platform: PlatformName

    /// The recognized platform, and the fix.
    package var description: String {
        "\(self.file.printable) is \(Self.reason(self.platform))"
    }

    /// What a payload is, where events are read, and the fix.
    static func reason(_ platform: PlatformName) -> String {
        "a payload of \(platform.rawValue), and no events in lines: add --platform "
            + "\(platform.rawValue) and what happened to it, such as --interaction opened"
    }
}

/// A payload belongs to another platform than the given one.
package struct WrongPlatformError: Error, CustomStringConvertible {
    let file: String
    let named: PlatformName
    let own: PlatformName

    /// The given and the recognized platform, and the fix.
    package var description: String {
        let library =
            self.named == .ios
            ? "; if a library of an iOS app made it of userInfo, give what is in `data` alone" : ""
        return "\(self.file.printable) is a payload of \(self.own.rawValue), not of "
            + "\(self.named.rawValue) (D39); nothing was sent: use --platform \(self.own.rawValue)"
            + library
    }
}
