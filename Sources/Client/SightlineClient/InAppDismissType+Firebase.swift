public import SightlineProtos

extension Sightline_V1_InAppDismissType {
    /// Creates the type that Firebase's SDK for iOS means by a number of its own.
    ///
    /// Its enum `InAppMessagingDismissType` has other numbers than the contract: 0 is a swipe, 1 a
    /// tap, 2 automatic, 3 unspecified. Any other number is unspecified.
    ///
    /// - Parameter rawValue: the number of Firebase's enum.
    public init(firebaseIOS rawValue: Int) {
        switch rawValue {
        case 0: self = .swipe
        case 1: self = .click
        case 2: self = .auto
        default: self = .unspecified
        }
    }
}
