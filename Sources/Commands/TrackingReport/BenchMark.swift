/// The app and delivery that mark the events of `sightline bench`. A report leaves these events
/// out, so its module defines them.
package enum BenchMark {
    /// The benchmark's app id. Reports leave it out.
    package static let appID = "sightline.bench"
    /// The benchmark's delivery id.
    package static let deliveryID = "be9c40"
}
