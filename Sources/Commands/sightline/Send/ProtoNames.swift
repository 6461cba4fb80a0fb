package import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules

extension Sightline_V1_Verdict {
    /// The name in verdict.proto without its prefix, e.g. `SUPPRESSED_FLAG_OFF`.
    package var name: String {
        self.name("VERDICT") { Verdict(rawValue: $0)?.name }
    }
}

extension Sightline_V1_HitKind {
    /// The name in verdict.proto without its prefix, e.g. `IN_APP_CLICK`.
    package var name: String {
        self.name("HIT_KIND") { HitKind(rawValue: $0)?.name }
    }
}

extension Sightline_V1_ViolationCode {
    /// The name in verdict.proto without its prefix, e.g. `REQUIRED`.
    package var name: String {
        self.name("VIOLATION_CODE") { Violation.Code(rawValue: $0)?.name }
    }
}

extension Sightline_V1_Warning {
    /// The name in verdict.proto without its prefix, e.g. `CLOCK_SKEW`.
    package var name: String {
        self.name("WARNING") { Warnings.name(of: $0) }
    }
}

extension Sightline_V1_PushSendReason {
    /// The name in event.proto without its prefix, e.g. `UNREGISTERED`.
    package var name: String {
        self.name("PUSH_SEND_REASON") { SendReason(rawValue: Int32($0))?.name }
    }
}

extension Sightline_V1_PushDisplay {
    /// The name in event.proto without its prefix, e.g. `SYSTEM`.
    package var name: String {
        self.name("PUSH_DISPLAY") { SendDisplay(rawValue: Int32($0))?.name }
    }
}

extension SwiftProtobuf.Enum {
    /// The rules' own name for a number, in capitals; the number after `prefix`, if a newer server
    /// sent an unknown one.
    fileprivate func name<Name>(_ prefix: String, _ name: (UInt8) -> Name?) -> String {
        if self.rawValue == 0 { return "UNSPECIFIED" }
        guard let name = UInt8(exactly: self.rawValue).flatMap(name) else {
            return "\(prefix)_\(self.rawValue)"
        }
        return "\(name)".uppercased()
    }
}
