! Generated transpositions in a Fortran program: leading dimensions, any size, threads, complex numbers.
program transpose_tensors
  use, intrinsic :: iso_c_binding
  use ttc_sTranspose210_48x30x40
  use ttc_zTranspose10_65x33_conj
  implicit none
  logical :: right = .true.

  call real_tensors()
  call complex_matrix()
  if (.not. right) error stop 1

contains

  subroutine real_tensors()
    real(c_float), allocatable :: a(:, :, :), b(:, :, :), wide(:, :, :), small(:, :, :), turned(:, :, :)
    integer :: i
    allocate (a(48, 30, 40), b(40, 30, 48), wide(50, 31, 40), small(7, 50, 33), turned(33, 50, 7))
    wide = reshape([(real(i, c_float), i=1, size(wide))], shape(wide))
    small = reshape([(real(i, c_float), i=1, size(small))], shape(small))
    a = wide(:48, :30, :)

    call sTranspose210_48x30x40(a, b, 1.0)
    call report("as generated", same(b, reversed(a)))

    call sTranspose210_48x30x40(wide, b, 2.0, lda=shape(wide)) ! reads wide(:48, :30, :)
    call report("leading dimensions at run time", same(b, 2*reversed(a)))

    call sTranspose210_48x30x40_beta(a, b, 1.0, 1.0)
    call report("B <- A + B", same(b, 3*reversed(a)))

    call sTranspose210_48x30x40_any(small, turned, 1.0, shape(small))
    call report("extents at run time", same(turned, reversed(small)))

    call sTranspose210_48x30x40_i64(small, turned, 3.0, shape(small, kind=8))
    call report("extents of integer(8)", same(turned, 3*reversed(small)))

    b = -1 ! columns backwards, from the last one on: strides count elements
    call sTranspose210_48x30x40_i64(wide(1, 30, 1), b, 1.0, strides_a=[1_8, -50_8, 50_8*31])
    call report("strides of integer(8), one is negative", same(b(:, 30:1:-1, :), reversed(a)))

    call sTranspose210_48x30x40_omp(a, b, 4.0)
    call report("on OpenMP's threads", same(b, 4*reversed(a)))

    call sTranspose210_48x30x40_any_omp(small, turned, 2.0, shape(small))
    call report("extents at run time, on OpenMP's threads", same(turned, 2*reversed(small)))
  end subroutine real_tensors

  subroutine complex_matrix()
    complex(c_double_complex) :: a(65, 33), b(33, 65)
    integer :: i, j
    do j = 1, 33
      do i = 1, 65
        a(i, j) = cmplx(i, j, c_double_complex)
      end do
    end do
    call zTranspose10_65x33_conj(a, b, (0.0_c_double, 1.0_c_double))
    call report("complex, conjugated", .not. any(abs(b - (0, 1)*conjg(transpose(a))) > 0))
  end subroutine complex_matrix

  function reversed(a) result(b)
    real(c_float), intent(in) :: a(:, :, :)
    real(c_float) :: b(size(a, 3), size(a, 2), size(a, 1))
    b = reshape(a, shape(b), order=[3, 2, 1])
  end function reversed

  logical function same(b, expected)
    real(c_float), intent(in) :: b(:, :, :), expected(:, :, :)
    same = .not. any(abs(b - expected) > 0)
  end function same

  subroutine report(what, is_right)
    character(*), intent(in) :: what
    logical, intent(in) :: is_right
    right = right .and. is_right
    print "(a42, 1x, a)", what//repeat(" ", 42 - len(what)), merge("ok   ", "WRONG", is_right)
  end subroutine report

end program transpose_tensors
