! transposes.f90: entries of libtransposes.a, written by ttc_llvm 0.1.0.
! Transpositions: A and B must not overlap. Padding is never written. Where they are not contiguous, pass A(1,1,1) of
! the whole array and its outer sizes.
! lda, ldb: one outer size per index, in A's and in B's order, each at least the extent; an absent one
! selects the values given at generation time.
! _any takes the extents as well: size, one per index of A; there an absent lda or ldb means no
! padding.
! _i64 takes extents and, in place of outer sizes, the strides of every index in elements, all as
! integer(c_int64_t), which integer(8) is; absent ones are the generated ones or, beside a size, those
! of an array without padding.
! Entries in place (_inplace) take one array, which is replaced, and one lda or strides.
! Entries of sums (Sum in their names) are for the generated sizes alone, and take none.
! _part runs one of `parts` parts, 0 <= part < parts: parts write disjoint elements and may run at the
! same time.
! _omp runs all parts on OpenMP's threads; the object of --emit=omp holds it.
module ttc_transposes
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: sTranspose210_8x16x16_lda32x32x32
  public :: sTranspose210_8x16x16_lda32x32x32_part
  public :: sTranspose210_8x16x16_lda32x32x32_beta
  public :: sTranspose210_8x16x16_lda32x32x32_beta_part
  public :: sTranspose210_8x16x16_lda32x32x32_any
  public :: sTranspose210_8x16x16_lda32x32x32_any_part
  public :: sTranspose210_8x16x16_lda32x32x32_any_beta
  public :: sTranspose210_8x16x16_lda32x32x32_any_beta_part
  public :: sTranspose210_8x16x16_lda32x32x32_i64
  public :: sTranspose210_8x16x16_lda32x32x32_i64_part
  public :: sTranspose210_8x16x16_lda32x32x32_i64_beta
  public :: sTranspose210_8x16x16_lda32x32x32_i64_beta_part
  public :: sTranspose210_8x16x16_lda32x32x32_omp
  public :: sTranspose210_8x16x16_lda32x32x32_beta_omp
  public :: sTranspose210_8x16x16_lda32x32x32_any_omp
  public :: sTranspose210_8x16x16_lda32x32x32_any_beta_omp
  public :: sTranspose210_8x16x16_lda32x32x32_i64_omp
  public :: sTranspose210_8x16x16_lda32x32x32_i64_beta_omp
  public :: i8Transpose10_300x500
  public :: i8Transpose10_300x500_part
  public :: i8Transpose10_300x500_any
  public :: i8Transpose10_300x500_any_part
  public :: i8Transpose10_300x500_i64
  public :: i8Transpose10_300x500_i64_part
  public :: i8Transpose10_300x500_omp
  public :: i8Transpose10_300x500_any_omp
  public :: i8Transpose10_300x500_i64_omp
  public :: zcTranspose10_3x5
  public :: zcTranspose10_3x5_part
  public :: zcTranspose10_3x5_beta
  public :: zcTranspose10_3x5_beta_part
  public :: zcTranspose10_3x5_any
  public :: zcTranspose10_3x5_any_part
  public :: zcTranspose10_3x5_any_beta
  public :: zcTranspose10_3x5_any_beta_part
  public :: zcTranspose10_3x5_i64
  public :: zcTranspose10_3x5_i64_part
  public :: zcTranspose10_3x5_i64_beta
  public :: zcTranspose10_3x5_i64_beta_part
  public :: zcTranspose10_3x5_omp
  public :: zcTranspose10_3x5_beta_omp
  public :: zcTranspose10_3x5_any_omp
  public :: zcTranspose10_3x5_any_beta_omp
  public :: zcTranspose10_3x5_i64_omp
  public :: zcTranspose10_3x5_i64_beta_omp

  interface
  ! sTranspose210_8x16x16_lda32x32x32
  !
  !     B[i2,i1,i0] <- alpha * A[i0,i1,i2] + beta * B[i2,i1,i0]
  !
  !     perm 2,1,0
  !     size 8,16,16
  !     lda  32,32,32
  !     ldb  16,16,8
  !     A    float
  !     B    float
  !
  ! alpha and beta: float; entries without beta take it as 0. alpha = 0: A is not read. beta = 0: B is
  ! not read. alpha = 1 and beta = 0 copies bit for bit.
  !
  ! target:   avx2
    subroutine sTranspose210_8x16x16_lda32x32x32( &
        A, B, alpha, lda, ldb) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32")
      import :: c_float, c_int
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine sTranspose210_8x16x16_lda32x32x32
    subroutine sTranspose210_8x16x16_lda32x32x32_part( &
        A, B, alpha, lda, ldb, part, parts) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_part")
      import :: c_float, c_int
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine sTranspose210_8x16x16_lda32x32x32_part
    subroutine sTranspose210_8x16x16_lda32x32x32_beta( &
        A, B, alpha, beta, lda, ldb) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_beta")
      import :: c_float, c_int
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      real(c_float), value :: beta
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine sTranspose210_8x16x16_lda32x32x32_beta
    subroutine sTranspose210_8x16x16_lda32x32x32_beta_part( &
        A, B, alpha, beta, lda, ldb, part, parts) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_beta_part")
      import :: c_float, c_int
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      real(c_float), value :: beta
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine sTranspose210_8x16x16_lda32x32x32_beta_part
    subroutine sTranspose210_8x16x16_lda32x32x32_any( &
        A, B, alpha, size, lda, ldb) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_any")
      import :: c_float, c_int
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine sTranspose210_8x16x16_lda32x32x32_any
    subroutine sTranspose210_8x16x16_lda32x32x32_any_part( &
        A, B, alpha, size, lda, ldb, part, parts) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_any_part")
      import :: c_float, c_int
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine sTranspose210_8x16x16_lda32x32x32_any_part
    subroutine sTranspose210_8x16x16_lda32x32x32_any_beta( &
        A, B, alpha, beta, size, lda, ldb) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_any_beta")
      import :: c_float, c_int
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      real(c_float), value :: beta
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine sTranspose210_8x16x16_lda32x32x32_any_beta
    subroutine sTranspose210_8x16x16_lda32x32x32_any_beta_part( &
        A, B, alpha, beta, size, lda, ldb, part, parts) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_any_beta_part")
      import :: c_float, c_int
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      real(c_float), value :: beta
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine sTranspose210_8x16x16_lda32x32x32_any_beta_part
    subroutine sTranspose210_8x16x16_lda32x32x32_i64( &
        A, B, alpha, size, strides_a, strides_b) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_i64")
      import :: c_float, c_int64_t
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
    end subroutine sTranspose210_8x16x16_lda32x32x32_i64
    subroutine sTranspose210_8x16x16_lda32x32x32_i64_part( &
        A, B, alpha, size, strides_a, strides_b, part, parts) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_i64_part")
      import :: c_float, c_int, c_int64_t
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine sTranspose210_8x16x16_lda32x32x32_i64_part
    subroutine sTranspose210_8x16x16_lda32x32x32_i64_beta( &
        A, B, alpha, beta, size, strides_a, strides_b) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_i64_beta")
      import :: c_float, c_int64_t
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      real(c_float), value :: beta
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
    end subroutine sTranspose210_8x16x16_lda32x32x32_i64_beta
    subroutine sTranspose210_8x16x16_lda32x32x32_i64_beta_part( &
        A, B, alpha, beta, size, strides_a, strides_b, part, parts) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_i64_beta_part")
      import :: c_float, c_int, c_int64_t
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      real(c_float), value :: beta
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine sTranspose210_8x16x16_lda32x32x32_i64_beta_part
    subroutine sTranspose210_8x16x16_lda32x32x32_omp( &
        A, B, alpha, lda, ldb) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_omp")
      import :: c_float, c_int
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine sTranspose210_8x16x16_lda32x32x32_omp
    subroutine sTranspose210_8x16x16_lda32x32x32_beta_omp( &
        A, B, alpha, beta, lda, ldb) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_beta_omp")
      import :: c_float, c_int
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      real(c_float), value :: beta
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine sTranspose210_8x16x16_lda32x32x32_beta_omp
    subroutine sTranspose210_8x16x16_lda32x32x32_any_omp( &
        A, B, alpha, size, lda, ldb) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_any_omp")
      import :: c_float, c_int
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine sTranspose210_8x16x16_lda32x32x32_any_omp
    subroutine sTranspose210_8x16x16_lda32x32x32_any_beta_omp( &
        A, B, alpha, beta, size, lda, ldb) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_any_beta_omp")
      import :: c_float, c_int
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      real(c_float), value :: beta
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine sTranspose210_8x16x16_lda32x32x32_any_beta_omp
    subroutine sTranspose210_8x16x16_lda32x32x32_i64_omp( &
        A, B, alpha, size, strides_a, strides_b) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_i64_omp")
      import :: c_float, c_int64_t
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
    end subroutine sTranspose210_8x16x16_lda32x32x32_i64_omp
    subroutine sTranspose210_8x16x16_lda32x32x32_i64_beta_omp( &
        A, B, alpha, beta, size, strides_a, strides_b) &
        bind(c, name="sTranspose210_8x16x16_lda32x32x32_i64_beta_omp")
      import :: c_float, c_int64_t
      real(c_float), intent(in) :: A(*)
      real(c_float), intent(inout) :: B(*)
      real(c_float), value :: alpha
      real(c_float), value :: beta
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
    end subroutine sTranspose210_8x16x16_lda32x32x32_i64_beta_omp

  ! i8Transpose10_300x500
  !
  !     B[i1,i0] <- A[i0,i1]
  !
  !     perm 1,0
  !     size 300,500
  !     lda  300,500
  !     ldb  500,300
  !     A    int8_t
  !     B    int8_t
  !
  ! Every item is copied bit for bit.
  !
  ! target:   avx2
    subroutine i8Transpose10_300x500( &
        A, B, lda, ldb) &
        bind(c, name="i8Transpose10_300x500")
      import :: c_int, c_int8_t
      integer(c_int8_t), intent(in) :: A(*)
      integer(c_int8_t), intent(inout) :: B(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine i8Transpose10_300x500
    subroutine i8Transpose10_300x500_part( &
        A, B, lda, ldb, part, parts) &
        bind(c, name="i8Transpose10_300x500_part")
      import :: c_int, c_int8_t
      integer(c_int8_t), intent(in) :: A(*)
      integer(c_int8_t), intent(inout) :: B(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine i8Transpose10_300x500_part
    subroutine i8Transpose10_300x500_any( &
        A, B, size, lda, ldb) &
        bind(c, name="i8Transpose10_300x500_any")
      import :: c_int, c_int8_t
      integer(c_int8_t), intent(in) :: A(*)
      integer(c_int8_t), intent(inout) :: B(*)
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine i8Transpose10_300x500_any
    subroutine i8Transpose10_300x500_any_part( &
        A, B, size, lda, ldb, part, parts) &
        bind(c, name="i8Transpose10_300x500_any_part")
      import :: c_int, c_int8_t
      integer(c_int8_t), intent(in) :: A(*)
      integer(c_int8_t), intent(inout) :: B(*)
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine i8Transpose10_300x500_any_part
    subroutine i8Transpose10_300x500_i64( &
        A, B, size, strides_a, strides_b) &
        bind(c, name="i8Transpose10_300x500_i64")
      import :: c_int64_t, c_int8_t
      integer(c_int8_t), intent(in) :: A(*)
      integer(c_int8_t), intent(inout) :: B(*)
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
    end subroutine i8Transpose10_300x500_i64
    subroutine i8Transpose10_300x500_i64_part( &
        A, B, size, strides_a, strides_b, part, parts) &
        bind(c, name="i8Transpose10_300x500_i64_part")
      import :: c_int, c_int64_t, c_int8_t
      integer(c_int8_t), intent(in) :: A(*)
      integer(c_int8_t), intent(inout) :: B(*)
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine i8Transpose10_300x500_i64_part
    subroutine i8Transpose10_300x500_omp( &
        A, B, lda, ldb) &
        bind(c, name="i8Transpose10_300x500_omp")
      import :: c_int, c_int8_t
      integer(c_int8_t), intent(in) :: A(*)
      integer(c_int8_t), intent(inout) :: B(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine i8Transpose10_300x500_omp
    subroutine i8Transpose10_300x500_any_omp( &
        A, B, size, lda, ldb) &
        bind(c, name="i8Transpose10_300x500_any_omp")
      import :: c_int, c_int8_t
      integer(c_int8_t), intent(in) :: A(*)
      integer(c_int8_t), intent(inout) :: B(*)
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine i8Transpose10_300x500_any_omp
    subroutine i8Transpose10_300x500_i64_omp( &
        A, B, size, strides_a, strides_b) &
        bind(c, name="i8Transpose10_300x500_i64_omp")
      import :: c_int64_t, c_int8_t
      integer(c_int8_t), intent(in) :: A(*)
      integer(c_int8_t), intent(inout) :: B(*)
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
    end subroutine i8Transpose10_300x500_i64_omp

  ! zcTranspose10_3x5
  !
  !     B[i1,i0] <- alpha * A[i0,i1] + beta * B[i1,i0]
  !
  !     perm 1,0
  !     size 3,5
  !     lda  3,5
  !     ldb  5,3
  !     A    double complex
  !     B    float complex
  !
  ! alpha and beta: double complex, by pointer; entries without beta take it as 0. alpha = 0: A is not
  ! read. beta = 0: B is not read. Those that equal 1 do not multiply.
  !
  ! target:   avx2
    subroutine zcTranspose10_3x5( &
        A, B, alpha, lda, ldb) &
        bind(c, name="zcTranspose10_3x5")
      import :: c_double_complex, c_float_complex, c_int
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine zcTranspose10_3x5
    subroutine zcTranspose10_3x5_part( &
        A, B, alpha, lda, ldb, part, parts) &
        bind(c, name="zcTranspose10_3x5_part")
      import :: c_double_complex, c_float_complex, c_int
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine zcTranspose10_3x5_part
    subroutine zcTranspose10_3x5_beta( &
        A, B, alpha, beta, lda, ldb) &
        bind(c, name="zcTranspose10_3x5_beta")
      import :: c_double_complex, c_float_complex, c_int
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: beta
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine zcTranspose10_3x5_beta
    subroutine zcTranspose10_3x5_beta_part( &
        A, B, alpha, beta, lda, ldb, part, parts) &
        bind(c, name="zcTranspose10_3x5_beta_part")
      import :: c_double_complex, c_float_complex, c_int
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: beta
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine zcTranspose10_3x5_beta_part
    subroutine zcTranspose10_3x5_any( &
        A, B, alpha, size, lda, ldb) &
        bind(c, name="zcTranspose10_3x5_any")
      import :: c_double_complex, c_float_complex, c_int
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine zcTranspose10_3x5_any
    subroutine zcTranspose10_3x5_any_part( &
        A, B, alpha, size, lda, ldb, part, parts) &
        bind(c, name="zcTranspose10_3x5_any_part")
      import :: c_double_complex, c_float_complex, c_int
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine zcTranspose10_3x5_any_part
    subroutine zcTranspose10_3x5_any_beta( &
        A, B, alpha, beta, size, lda, ldb) &
        bind(c, name="zcTranspose10_3x5_any_beta")
      import :: c_double_complex, c_float_complex, c_int
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: beta
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine zcTranspose10_3x5_any_beta
    subroutine zcTranspose10_3x5_any_beta_part( &
        A, B, alpha, beta, size, lda, ldb, part, parts) &
        bind(c, name="zcTranspose10_3x5_any_beta_part")
      import :: c_double_complex, c_float_complex, c_int
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: beta
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine zcTranspose10_3x5_any_beta_part
    subroutine zcTranspose10_3x5_i64( &
        A, B, alpha, size, strides_a, strides_b) &
        bind(c, name="zcTranspose10_3x5_i64")
      import :: c_double_complex, c_float_complex, c_int64_t
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
    end subroutine zcTranspose10_3x5_i64
    subroutine zcTranspose10_3x5_i64_part( &
        A, B, alpha, size, strides_a, strides_b, part, parts) &
        bind(c, name="zcTranspose10_3x5_i64_part")
      import :: c_double_complex, c_float_complex, c_int, c_int64_t
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine zcTranspose10_3x5_i64_part
    subroutine zcTranspose10_3x5_i64_beta( &
        A, B, alpha, beta, size, strides_a, strides_b) &
        bind(c, name="zcTranspose10_3x5_i64_beta")
      import :: c_double_complex, c_float_complex, c_int64_t
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: beta
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
    end subroutine zcTranspose10_3x5_i64_beta
    subroutine zcTranspose10_3x5_i64_beta_part( &
        A, B, alpha, beta, size, strides_a, strides_b, part, parts) &
        bind(c, name="zcTranspose10_3x5_i64_beta_part")
      import :: c_double_complex, c_float_complex, c_int, c_int64_t
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: beta
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
      integer(c_int), value :: part
      integer(c_int), value :: parts
    end subroutine zcTranspose10_3x5_i64_beta_part
    subroutine zcTranspose10_3x5_omp( &
        A, B, alpha, lda, ldb) &
        bind(c, name="zcTranspose10_3x5_omp")
      import :: c_double_complex, c_float_complex, c_int
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine zcTranspose10_3x5_omp
    subroutine zcTranspose10_3x5_beta_omp( &
        A, B, alpha, beta, lda, ldb) &
        bind(c, name="zcTranspose10_3x5_beta_omp")
      import :: c_double_complex, c_float_complex, c_int
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: beta
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine zcTranspose10_3x5_beta_omp
    subroutine zcTranspose10_3x5_any_omp( &
        A, B, alpha, size, lda, ldb) &
        bind(c, name="zcTranspose10_3x5_any_omp")
      import :: c_double_complex, c_float_complex, c_int
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine zcTranspose10_3x5_any_omp
    subroutine zcTranspose10_3x5_any_beta_omp( &
        A, B, alpha, beta, size, lda, ldb) &
        bind(c, name="zcTranspose10_3x5_any_beta_omp")
      import :: c_double_complex, c_float_complex, c_int
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: beta
      integer(c_int), intent(in) :: size(*)
      integer(c_int), intent(in), optional :: lda(*)
      integer(c_int), intent(in), optional :: ldb(*)
    end subroutine zcTranspose10_3x5_any_beta_omp
    subroutine zcTranspose10_3x5_i64_omp( &
        A, B, alpha, size, strides_a, strides_b) &
        bind(c, name="zcTranspose10_3x5_i64_omp")
      import :: c_double_complex, c_float_complex, c_int64_t
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
    end subroutine zcTranspose10_3x5_i64_omp
    subroutine zcTranspose10_3x5_i64_beta_omp( &
        A, B, alpha, beta, size, strides_a, strides_b) &
        bind(c, name="zcTranspose10_3x5_i64_beta_omp")
      import :: c_double_complex, c_float_complex, c_int64_t
      complex(c_double_complex), intent(in) :: A(*)
      complex(c_float_complex), intent(inout) :: B(*)
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: beta
      integer(c_int64_t), intent(in), optional :: size(*)
      integer(c_int64_t), intent(in), optional :: strides_a(*)
      integer(c_int64_t), intent(in), optional :: strides_b(*)
    end subroutine zcTranspose10_3x5_i64_beta_omp

  end interface
end module ttc_transposes
