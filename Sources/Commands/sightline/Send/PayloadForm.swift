package import Foundation
package import JSON
internal import TrackingReport
internal import TrackingRules
internal import WireFormat

/// What a file holds: a payload, and whose; for people who leave --platform out, or mistake it.
package enum PayloadForm {
    /// The platform that a payload's shape tells: iOS payloads have `aps`, Android's have `data`,
    /// and an FCM v1 message has either; nil where it tells none.
    package static func platform(of payload: JSONValue) -> PlatformName? {
        var keys = payload.objectValue ?? [:]
        if let message = keys["message"]?.objectValue { keys.merge(message) { own, _ in own } }
        let isIOS = keys["aps"] != nil || keys["apns"] != nil
        switch (isIOS, keys["data"] != nil || keys["android"] != nil) {
        case (true, false): return .ios
        case (false, true): return .android
        case (true, true), (false, false): return nil
        }
    }

    /// Looks whether files that are about to be read as events, line by line, are payloads.
    ///
    /// - Throws: `MissingPlatformError` for the first that is one; `FileReadError`.
    package static func checkNoPayloads(in files: [String]) throws {
        // Standard input can be read once.
        for file in files where file != "-" {
            guard let data = try InputFile.payload(in: file),
                let payload = try? PayloadReader().document(from: data),
                let platform = Self.platform(of: payload.value)
            else { continue }
            throw MissingPlatformError(file: file, platform: platform)
        }
    }

    /// Looks whether a payload contradicts the platform that it is to be sent as, by the rule that
    /// the server would reject it by (D39).
    ///
    /// - Throws: `WrongPlatformError`.
    package static func check(_ data: Data, file: String, platform: PlatformName) throws {
        // What is no payload at all is told by whoever reads it.
        guard let payload = try? PayloadReader().document(from: data) else { return }
        let other: PlatformName = platform == .ios ? .android : .ios
        if payload.contradicts(platform.platform), !payload.contradicts(other.platform) {
            throw WrongPlatformError(file: file, named: platform, own: other)
        }
    }
}

/// A payload was named without its platform.
package struct MissingPlatformError: Error, CustomStringConvertible {
    let file: String
    let platform: PlatformName

    /// What it is, and the fix.
    package var description: String {
        "\(self.file.printable) is a payload of \(self.platform.rawValue), and no events in lines: "
            + "add --platform \(self.platform.rawValue) and what happened to it, such as "
            + "--interaction opened"
    }
}

/// A payload is another platform's than the one that was named.
package struct WrongPlatformError: Error, CustomStringConvertible {
    let file: String
    let named: PlatformName
    let own: PlatformName

    /// What was named, what it is, and the fix.
    package var description: String {
        "\(self.file.printable) is a payload of \(self.own.rawValue), not of "
            + "\(self.named.rawValue) (D39); nothing was sent: use --platform \(self.own.rawValue)"
    }
}
