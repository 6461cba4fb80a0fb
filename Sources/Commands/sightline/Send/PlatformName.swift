package import TrackingRules

/// The names of platforms on the command line.
package enum PlatformName: String, CaseIterable, Sendable {
    /// iOS.
    case ios
    /// Android.
    case android

    /// The platform.
    package var platform: Platform {
        switch self {
        case .ios: .ios
        case .android: .android
        }
    }
}
