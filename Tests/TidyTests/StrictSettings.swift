// Proves that the strict settings of Package.swift are on: a misspelt feature is silently ignored.
// Every hand-written target has the same ones, from `strict`.
#if !hasFeature(ExistentialAny)
#error("ExistentialAny is off: see the strict settings in Package.swift")
#endif
#if !hasFeature(InternalImportsByDefault)
#error("InternalImportsByDefault is off: see the strict settings in Package.swift")
#endif
#if !hasFeature(MemberImportVisibility)
#error("MemberImportVisibility is off: see the strict settings in Package.swift")
#endif
